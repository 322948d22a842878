import { ANCHOR_WEIGHTS } from '../../protocol/types';
import type { Region } from '../types';

/**
 * Two lines, one in each text, that should stand at the same height.
 */
export interface IAnchor {
  key: string;
  left: number;
  right: number;
}

/**
 * A key that occurs more often than this on both sides is paired first to first, second to second,
 * so that the number of candidate pairs stays linear.
 */
const MAX_PAIRS_OF_A_KEY = 64;

/**
 * Two lines that may become an anchor.
 */
export interface ICandidate extends IAnchor {
  weight: number;
}

/**
 * Match the regions of two texts, keeping the order of both.
 *
 * Of all pairs that share a kind and a key, the heaviest set is kept in which lines rise strictly
 * on both sides. No text and no line is compared: `diff.ts` does that. HTML without scripts is
 * aligned by `analysis/text/region_anchors.py`; `tests/data/anchors.json` tests both.
 *
 * @param left The left text's regions, in any order.
 * @param right The right text's regions, in any order.
 * @returns The anchors by rising line; empty when nothing is shared.
 */
export function matchRegions(
  left: readonly Region[],
  right: readonly Region[]
): IAnchor[] {
  const pairs = candidates(left, right);
  // Falling on the right where the left line is the same: two pairs of one line never chain.
  pairs.sort((a, b) => a.left - b.left || b.right - a.right);
  return heaviestChain(pairs);
}

function candidates(
  left: readonly Region[],
  right: readonly Region[]
): ICandidate[] {
  const rights = byIdentity(right);
  const pairs: ICandidate[] = [];
  for (const [identity, lefts] of byIdentity(left)) {
    const partners = rights.get(identity);
    if (!partners) {
      continue;
    }
    const isEveryPair = lefts.length * partners.length <= MAX_PAIRS_OF_A_KEY;
    lefts.forEach((a, i) => {
      for (const b of isEveryPair ? partners : partners.slice(i, i + 1)) {
        pairs.push({
          key: a.key,
          left: a.start,
          right: b.start,
          weight: ANCHOR_WEIGHTS[a.kind]
        });
      }
    });
  }
  return pairs;
}

function byIdentity(regions: readonly Region[]): Map<string, Region[]> {
  const groups = new Map<string, Region[]>();
  const sorted = regions
    .filter(region => region.key && region.kind in ANCHOR_WEIGHTS)
    .sort((a, b) => a.start - b.start);
  for (const region of sorted) {
    const identity = `${region.kind} ${region.key}`;
    const group = groups.get(identity);
    if (group) {
      group.push(region);
    } else {
      groups.set(identity, [region]);
    }
  }
  return groups;
}

/**
 * The heaviest set of pairs in which both lines rise strictly: a weighted longest increasing
 * subsequence, in O(n log n).
 *
 * @param pairs By rising left line, and by falling right line where that is the same.
 */
export function heaviestChain(pairs: readonly ICandidate[]): IAnchor[] {
  const size = pairs.reduce((max, { right }) => Math.max(max, right + 2), 0);
  // A Fenwick tree of prefix maxima: the right line + 1 → the best chain that ends there.
  const tree = new Int32Array(size).fill(-1);
  const total = new Float64Array(pairs.length);
  const previous = new Int32Array(pairs.length).fill(-1);
  let best = -1;

  pairs.forEach((pair, i) => {
    const at = pair.right + 1;
    for (let j = at - 1; j > 0; j -= j & -j) {
      if (
        tree[j] >= 0 &&
        (previous[i] < 0 || total[tree[j]] > total[previous[i]])
      ) {
        previous[i] = tree[j];
      }
    }
    total[i] = pair.weight + (previous[i] < 0 ? 0 : total[previous[i]]);
    for (let j = at; j < size; j += j & -j) {
      if (tree[j] < 0 || total[i] > total[tree[j]]) {
        tree[j] = i;
      }
    }
    if (best < 0 || total[i] > total[best]) {
      best = i;
    }
  });

  const chain: IAnchor[] = [];
  for (let i = best; i >= 0; i = previous[i]) {
    const { key, left, right } = pairs[i];
    chain.push({ key, left, right });
  }
  return chain.reverse();
}
