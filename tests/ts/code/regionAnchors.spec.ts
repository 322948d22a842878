import { matchRegions } from '../../../src/code/regions/anchors';
import {
  spacerHeights,
  type IAnchorTops
} from '../../../src/code/regions/spacerHeights';
import type { Region } from '../../../src/protocol/types';
import cases from '../../data/anchors.json';
import { random, region } from '../support/code';

const regionsOf = (rows: readonly (string | number)[][]): Region[] =>
  rows.map(([kind, start, end, key]) =>
    region(kind as Region['kind'], Number(start), Number(end), String(key))
  );

describe('matchRegions', () => {
  it.each(cases.map(item => [item.name, item] as const))(
    '%s',
    (_, { left, right, anchors }) => {
      expect(
        matchRegions(regionsOf(left), regionsOf(right)).map(anchor => [
          anchor.key,
          anchor.left,
          anchor.right
        ])
      ).toEqual(anchors);
    }
  );

  it.each([...Array(40).keys()])('holds for random texts (seed %i)', seed => {
    const next = random(seed);
    const text = (): Region[] => {
      let line = 1;
      return [...Array(Math.floor(next() * 14))].map(() => {
        line += 1 + Math.floor(next() * 4);
        const key = 'abcdefg'[Math.floor(next() * 7)];
        return region('launch', line, line, key);
      });
    };
    const [left, right] = [text(), text()];
    const anchors = matchRegions(left, right);
    anchors.forEach((anchor, i) => {
      // Lines rise on both sides, and both lines carry the key.
      expect(anchor.left).toBeGreaterThan(anchors[i - 1]?.left ?? 0);
      expect(anchor.right).toBeGreaterThan(anchors[i - 1]?.right ?? 0);
      expect(left.find(r => r.start === anchor.left)?.key).toBe(anchor.key);
      expect(right.find(r => r.start === anchor.right)?.key).toBe(anchor.key);
    });
    // No order keeps more: compare with the textbook's quadratic answer.
    expect(anchors.length).toBe(longestCommon(left, right));
    // Exchanging the sides exchanges the answer's size with nothing.
    expect(matchRegions(right, left).length).toBe(anchors.length);
  });

  it('matches 20,000 launches in a fraction of a second', () => {
    const text = (step: number) =>
      [...Array(20000).keys()].map(i =>
        region('launch', i * step + 1, i * step + 1, `k${i}`)
      );
    const [left, right] = [text(1), text(3)];
    const start = process.cpuUsage();
    expect(matchRegions(left, right).length).toBe(20000);
    // Microseconds of the processor, however busy the machine is.
    expect(process.cpuUsage(start).user).toBeLessThan(2e6);
  });
});

describe('spacerHeights', () => {
  it('pushes down the side that is higher up', () => {
    expect(
      spacerHeights([
        { left: 100, right: 40 },
        { left: 120, right: 90 },
        { left: 200, right: 140 }
      ])
    ).toEqual([
      { left: 0, right: 60 },
      { left: 30, right: 0 },
      { left: 0, right: 30 }
    ]);
  });

  it('needs none where both sides are alike', () => {
    const tops = [0, 18, 90].map(top => ({ left: top, right: top }));
    expect(spacerHeights(tops)).toEqual(
      tops.map(() => ({ left: 0, right: 0 }))
    );
  });

  it('leaves small differences alone, but does not let them add up', () => {
    const tops = [...Array(20).keys()].map(i => ({
      left: i * 10.4,
      right: i * 10
    }));
    const total = sum(spacerHeights(tops), 'right');
    expect(Math.abs(19 * 0.4 - total)).toBeLessThanOrEqual(0.75);
  });

  it.each([...Array(30).keys()])('holds for random tops (seed %i)', seed => {
    const next = random(seed);
    const tops: IAnchorTops[] = [];
    let top = { left: 0, right: 0 };
    for (let i = 0; i < 30; i++) {
      tops.push(top);
      top = { left: top.left + next() * 200, right: top.right + next() * 200 };
    }
    const spacers = spacerHeights(tops);
    let [left, right] = [0, 0];
    spacers.forEach((spacer, i) => {
      left += spacer.left;
      right += spacer.right;
      expect(Math.min(spacer.left, spacer.right)).toBe(0);
      expect(spacer.left + spacer.right).toBeGreaterThanOrEqual(0);
      const apart = tops[i].left + left - (tops[i].right + right);
      expect(Math.abs(apart)).toBeLessThanOrEqual(0.75);
    });
  });
});

function sum(tops: IAnchorTops[], side: keyof IAnchorTops): number {
  return tops.reduce((total, top) => total + top[side], 0);
}

/** The length of the longest common subsequence of the keys. */
function longestCommon(left: Region[], right: Region[]): number {
  const row = new Array<number>(right.length + 1).fill(0);
  for (const a of left) {
    let diagonal = 0;
    right.forEach((b, j) => {
      const above = row[j + 1];
      row[j + 1] = a.key === b.key ? diagonal + 1 : Math.max(above, row[j]);
      diagonal = above;
    });
  }
  return row[right.length];
}
