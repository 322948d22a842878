import type { IColumn } from '../../../../src/panels/common';
import {
  lengthsOf,
  tracksOf
} from '../../../../src/panels/common/tables/table';
import { treeColumns } from '../../../../src/panels/guards/columns';
import { columnsOf as kernelColumns } from '../../../../src/panels/kernels/columns';
import { columnsOf as memoryColumns } from '../../../../src/panels/memory/columns';
import type { Memory } from '../../../../src/protocol/types';
import { contextOf, ViewModel } from '../../support/views';

/** Of style/common/table.css. */
const GAP = 10;
const PADDING = 24;

/**
 * How wide a table's columns are at least, with all that are shown at a width.
 */
function leastWidth(
  columns: readonly IColumn<never>[],
  available: number
): number {
  const shown = columns.filter(({ from }) => available >= (from ?? 0));
  const tracks = shown.map(({ width }) =>
    Number(/^(?:minmax\()?(\d+)px/.exec(width)?.[1])
  );
  return (
    tracks.reduce((sum, track) => sum + track, 0) +
    GAP * (tracks.length - 1) +
    PADDING
  );
}

const context = contextOf(new ViewModel());
const kernels = (
  isTimed: boolean,
  target: string | null,
  isTraining = false,
  graphs: Parameters<typeof kernelColumns>[1]['graphs'] = null
) =>
  kernelColumns(context, {
    origin: {},
    isTimed,
    isTraining,
    graphs,
    target,
    latencyUs: null,
    onLaunch: () => undefined
  });

describe.each([
  ['kernels', kernels(false, null)],
  ['timed kernels', kernels(true, null)],
  ['kernels of a training step', kernels(false, null, true)],
  ['timed kernels of a training step', kernels(true, null, true)],
  ['kernels for a target', kernels(false, 'H100 SXM')],
  ['kernels of several graphs', kernels(false, null, false, new Map())],
  ['timed kernels of several graphs', kernels(true, null, true, new Map())],
  ['buffers', memoryColumns({ steps: [] } as unknown as Memory, context.trans)]
] as [string, readonly IColumn<never>[]][])('the table of %s', (_, columns) => {
  it('shows only columns that fit', () => {
    const widths = Array.from({ length: 160 }, (_, index) => 400 + 10 * index);
    const tooNarrow = widths
      .map(width => [width, leastWidth(columns, width)])
      .filter(([width, least]) => least > width);
    expect(tooNarrow).toEqual([]);
  });
});

it.each([true, false])(
  'tells forward from backward beside a notebook',
  isTimed => {
    const columns = kernels(isTimed, null, true);
    const { from } = columns.find(({ id }) => id === 'direction')!;
    expect(from).toBeLessThanOrEqual(500);
  }
);

it('leaves most of a wide panel to the guards of the tree', () => {
  const columns = treeColumns({
    context,
    view: {},
    graphs: null,
    scale: 1,
    noCost: '',
    noCounts: '',
    hasCosts: true,
    hasHits: false,
    hasFails: false
  });
  const [guard, ...others] = columns.map(({ width }) => width);
  const most = others.map(width => Number(/(\d+)px\)?$/.exec(width)![1]));
  expect(guard).toMatch(/ 1fr\)$/);
  expect(most.reduce((sum, width) => sum + width)).toBeLessThan(950 / 2);
});

describe('tracksOf', () => {
  const column = (
    id: string,
    width: string,
    text?: (row: string) => string
  ): IColumn<string> => ({ id, label: id, width, text, render: row => row });
  const tracks = (columns: IColumn<string>[], rows: string[]) =>
    tracksOf(columns, lengthsOf(columns, rows));
  const name = column('name', 'minmax(200px, 3fr)', row => row);

  it('gives a column the width of its longest text, the rest to another', () => {
    const rest = column('rest', 'minmax(80px, 1fr)');
    expect(tracks([name, column('n', '40px'), rest], ['mm', 'addmm'])).toBe(
      'minmax(min(200px, 7ch), 7ch) 40px minmax(80px, 1fr)'
    );
    expect(tracks([name, rest], [])).toContain('6ch');
  });

  it('keeps one column that takes the rest', () => {
    const source = column('source', 'minmax(84px, 1fr)', () => 'cell:1');
    expect(tracks([name, source], ['mm'])).toBe(
      'minmax(200px, 3fr) minmax(min(84px, 8ch), 8ch)'
    );
  });
});
