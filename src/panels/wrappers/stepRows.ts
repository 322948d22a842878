import { heaviestChain } from '../../code/regions/anchors';
import type { Step } from '../../protocol/types';

/**
 * A row: what the two wrappers do at the same place. One of them may do
 * nothing.
 */
export interface IRow {
  /**
   * Identifies the row.
   */
  readonly id: string;
  readonly python: Step | null;
  readonly cpp: Step | null;
}

/**
 * Pairs the steps of two wrappers by their keys, while both keep their own
 * order. If the orders differ, as many steps as possible are paired.
 */
export function stepRows(
  python: readonly Step[],
  cpp: readonly Step[]
): readonly IRow[] {
  const places = new Map(cpp.map(({ key }, place) => [key, place]));
  const shared = python.flatMap(({ key }, left) => {
    const right = places.get(key);
    return right === undefined ? [] : [{ key, left, right, weight: 1 }];
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
  for (const pair of heaviestChain(shared)) {
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
