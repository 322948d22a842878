import type { Step } from '../../protocol/types';

/**
 * A row: what the two wrappers do at one place. One of them may do nothing.
 */
export interface IRow {
  /**
   * Tells the rows apart.
   */
  readonly id: string;
  readonly python: Step | null;
  readonly cpp: Step | null;
}

/**
 * Put the steps of two wrappers side by side: those of the same key in one row,
 * both in their own order. Where the order differs, as many rows are paired as
 * can be without changing it.
 */
export function align(
  python: readonly Step[],
  cpp: readonly Step[]
): readonly IRow[] {
  const places = new Map(cpp.map(({ key }, place) => [key, place]));
  const shared = python.flatMap(({ key }, left) => {
    const right = places.get(key);
    return right === undefined ? [] : [{ left, right }];
  });
  const rows: IRow[] = [];
  let left = 0;
  let right = 0;
  const until = (leftEnd: number, rightEnd: number) => {
    for (; left < leftEnd; left++) {
      rows.push({ id: `python ${left}`, python: python[left], cpp: null });
    }
    for (; right < rightEnd; right++) {
      rows.push({ id: `cpp ${right}`, python: null, cpp: cpp[right] });
    }
  };
  for (const pair of rising(shared)) {
    until(pair.left, pair.right);
    rows.push({
      id: `both ${left}`,
      python: python[left++],
      cpp: cpp[right++]
    });
  }
  until(python.length, cpp.length);
  return rows;
}

interface IPair {
  readonly left: number;
  readonly right: number;
}

/**
 * The longest part of pairs, given by their left, whose right rises too.
 */
function rising(pairs: readonly IPair[]): readonly IPair[] {
  // `ends[n]` ends the best run of length n + 1 so far.
  const ends: number[] = [];
  const before: number[] = [];
  pairs.forEach(({ right }, index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]].right < right) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    before[index] = low > 0 ? ends[low - 1] : -1;
    ends[low] = index;
  });
  const aligned: IPair[] = [];
  for (let at = ends[ends.length - 1] ?? -1; at >= 0; at = before[at]) {
    aligned.unshift(pairs[at]);
  }
  return aligned;
}
