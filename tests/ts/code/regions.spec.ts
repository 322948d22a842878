import { FOLD_ABOVE_LINES, kernelFolds } from '../../../src/code/regions/folds';
import {
  highlight,
  launchedKernels
} from '../../../src/code/regions/selectionMarks';
import { assignBars, COLORS, SHAPES } from '../../../src/code/regions/linkBars';
import { RegionIndex } from '../../../src/code/regions/regions';
import type { SourceLine } from '../../../src/protocol/types';
import { random, region } from '../support/code';

const source = (file: string, line: number): SourceLine => ({
  file,
  line,
  function: '',
  code: ''
});

describe('RegionIndex', () => {
  const launch = region('launch', 30, 33, 'launch:1', { kernel: 'k0' });
  const index = new RegionIndex(
    [
      launch,
      region('entry', 20, 40, 'entry'),
      region('kernel', 1, 15, 'kernel:k0', { kernel: 'k0' }),
      region('alloc', 31, 31, 'alloc:buf0')
    ],
    50
  );

  it('finds the innermost region', () => {
    expect(index.at(30)?.key).toBe('launch:1');
    expect(index.at(31)?.key).toBe('alloc:buf0');
    expect(index.at(33)?.key).toBe('launch:1');
    expect(index.at(7)?.key).toBe('kernel:k0');
    expect(index.at(16)).toBeNull();
    expect(index.at(0)).toBeNull();
    expect(index.at(999)).toBeNull();
  });

  it('lets an entry point stand for its first line only', () => {
    expect(index.at(20)?.key).toBe('entry');
    expect(index.at(21)).toBeNull();
  });

  it('finds regions by key, kernel and source line', () => {
    const sources = [source('a.py', 3), source('b.py', 3)];
    const other = new RegionIndex(
      [
        region('launch', 1, 1, 'a', { kernel: 'k', sources }),
        region('launch', 2, 2, 'b', { sources: [source('a.py', 3)] })
      ],
      2
    );
    expect(other.withKey('a').map(r => r.start)).toEqual([1]);
    expect(other.withKey('nothing')).toEqual([]);
    expect(other.withKernel('k').map(r => r.start)).toEqual([1]);
    expect(other.withSource(sources[0]).map(r => r.start)).toEqual([1, 2]);
    expect(other.withSource(sources[1]).map(r => r.start)).toEqual([1]);
    expect(other.withSource(source('a.py', 4))).toEqual([]);
  });

  it('names a region once where its sources repeat a line', () => {
    const sources = [source('a.py', 3), source('a.py', 3)];
    const other = new RegionIndex(
      [region('launch', 1, 1, 'a', { sources })],
      1
    );
    expect(other.withSource(sources[0])).toHaveLength(1);
  });

  it('goes from launch to launch', () => {
    const other = new RegionIndex(
      [5, 9, 14].map(line => region('launch', line, line + 1, `${line}`)),
      20
    );
    expect(other.stopFrom(1, 1)?.start).toBe(5);
    expect(other.stopFrom(5, 1)?.start).toBe(9);
    expect(other.stopFrom(14, 1)).toBeNull();
    expect(other.stopFrom(14, -1)?.start).toBe(9);
    expect(other.stopFrom(5, -1)).toBeNull();
  });

  it('survives regions that do not fit the text', () => {
    const other = new RegionIndex(
      [
        region('launch', 0, 2, 'before'),
        region('launch', 3, 99, 'long'),
        region('launch', 11, 12, 'after'),
        region('launch', 5, 4, 'backwards')
      ],
      10
    );
    expect(other.regions.map(r => r.key)).toEqual(['long']);
    expect(other.regions[0].end).toBe(10);
  });

  it.each([...Array(20).keys()])('agrees with a search (seed %i)', seed => {
    const next = random(seed);
    const regions = [...Array(25).keys()].map(i => {
      const start = 1 + Math.floor(next() * 80);
      return region('alloc', start, start + Math.floor(next() * 12), `${i}`);
    });
    const index = new RegionIndex(regions, 100);
    for (let line = 1; line <= 100; line++) {
      const holders = regions.filter(r => r.start <= line && line <= r.end);
      const smallest = Math.min(...holders.map(r => r.end - r.start));
      const region = index.at(line);
      expect(region === null).toBe(holders.length === 0);
      if (region) {
        expect(region.end - region.start).toBe(smallest);
      }
    }
  });
});

describe('kernelFolds', () => {
  it('folds long kernels from the start, short ones not', () => {
    const folds = kernelFolds([
      region('kernel', 1, FOLD_ABOVE_LINES, 'a', { kernel: 'short' }),
      region('kernel', 20, 20 + FOLD_ABOVE_LINES, 'b', { kernel: 'long' })
    ]);
    expect(folds).toEqual([
      { start: 1, end: 12, name: 'short', lines: 12, initially: false },
      { start: 20, end: 32, name: 'long', lines: 13, initially: true }
    ]);
  });

  it('folds nothing else, and nothing of one line', () => {
    expect(
      kernelFolds([region('launch', 1, 90), region('kernel', 91, 91)])
    ).toEqual([]);
  });

  it('keeps the outer one of nested kernels, so that folds never overlap', () => {
    const folds = kernelFolds([
      region('kernel', 1, 40, '', { kernel: 'outer' }),
      region('kernel', 5, 20, '', { kernel: 'inner' }),
      region('kernel', 41, 60, '', { label: 'labeled' })
    ]);
    expect(folds.map(fold => fold.name)).toEqual(['outer', 'labeled']);
  });
});

describe('highlight', () => {
  const index = new RegionIndex(
    [
      region('kernel', 1, 9, 'kernel:k', { kernel: 'k' }),
      region('launch', 20, 21, 'launch:1', {
        kernel: 'k',
        sources: [source('cell', 4)]
      }),
      region('launch', 30, 31, 'launch:2', { kernel: 'k' })
    ],
    40
  );
  const starts = (regions: readonly { start: number }[]) =>
    regions.map(r => r.start);

  it('marks a launch strongly and its kernel softly', () => {
    const marks = highlight({ key: 'launch:1', source: null }, index);
    expect(starts(marks.strong)).toEqual([20]);
    expect(starts(marks.soft)).toEqual([1]);
  });

  it('marks a kernel strongly and its launches softly', () => {
    const marks = highlight({ key: 'kernel:k', source: null }, index);
    expect(starts(marks.strong)).toEqual([1]);
    expect(starts(marks.soft)).toEqual([20, 30]);
  });

  it('marks what comes from a source line', () => {
    const marks = highlight(
      { key: null, source: { file: 'cell', line: 4 } },
      index
    );
    expect(starts(marks.strong)).toEqual([20]);
    expect(starts(marks.soft)).toEqual([1]);
  });

  it('prefers the key to the source line', () => {
    const marks = highlight(
      { key: 'launch:2', source: { file: 'cell', line: 4 } },
      index
    );
    expect(starts(marks.strong)).toEqual([30]);
  });

  it('marks nothing when nothing is selected', () => {
    const marks = highlight({ key: null, source: null }, index);
    expect(marks).toEqual({ strong: [], soft: [] });
  });

  it('marks the kernel that only the other side knows to be called', () => {
    const selection = { key: 'launch:1', source: null };
    const wrapper = new RegionIndex(
      [region('kernel', 1, 9, 'kernel:k', { kernel: 'k' })],
      9
    );
    expect(highlight(selection, wrapper).soft).toEqual([]);
    const kernels = launchedKernels(selection, index);
    expect([...kernels]).toEqual(['k']);
    expect(starts(highlight(selection, wrapper, kernels).soft)).toEqual([1]);
  });
});

describe('assignBars', () => {
  const keys = (main: string[], rest: string[] = []) => ({
    main,
    all: [...main, ...rest]
  });

  it('gives a bar to what both sides have', () => {
    const bars = assignBars(
      keys(['a', 'b', 'c'], ['buf0', 'buf1']),
      keys(['c', 'a'], ['buf1'])
    );
    expect([...bars.keys()]).toEqual(['a', 'c', 'buf1']);
    expect(bars.get('buf1')).toBeNull();
    expect(bars.get('a')).not.toBeNull();
  });

  it('tells neighbors apart by color and by shape alone', () => {
    const names = [...Array(100).keys()].map(i => `k${i}`);
    const bars = [...assignBars(keys(names), keys(names)).values()];
    bars.slice(1).forEach((bar, i) => {
      expect(bar!.color).not.toBe(bars[i]!.color);
      expect(bar!.shape).not.toBe(bars[i]!.shape);
    });
    const first = bars.slice(0, COLORS * SHAPES).map(b => JSON.stringify(b));
    expect(new Set(first).size).toBe(COLORS * SHAPES);
  });
});
