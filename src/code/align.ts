import type { Region } from './types';

/**
 * Two lines, one in each text, that should stand at the same height.
 */
export interface IAnchor {
  key: string;
  left: number;
  right: number;
}

/**
 * The heights (in pixels, without any spacers) at which an anchor's lines begin.
 */
export interface IAnchorTops {
  left: number;
  right: number;
}

/**
 * How much each kind of region counts when not all pairs can be kept.
 *
 * A launch outweighs any number of the others: the wrappers are compared call by call, and where
 * the kernels' definitions stand (before the calls in Python, after them in C++) must not decide.
 * Allocations and checks are left out; aligning them would tear both texts apart.
 */
const WEIGHT: Partial<Record<Region['kind'], number>> = {
  launch: 1 << 20,
  entry: 16,
  return: 16,
  kernel: 1
};

/**
 * A key that occurs more often than this on both sides is paired first to first, second to second,
 * so that the number of candidate pairs stays linear.
 */
const MAX_PAIRS_OF_A_KEY = 64;

interface IPair extends IAnchor {
  weight: number;
}

/**
 * Match the regions of two texts, keeping the order of both.
 *
 * Of all pairs that share a kind and a key, the heaviest set is kept in which lines rise strictly
 * on both sides (a weighted longest increasing subsequence, in O(n log n)).
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

/**
 * The spacers that bring every anchor to one height.
 *
 * @param tops Where each anchor's lines begin, in pixels, by rising line, without spacers.
 * @param slack Differences below this many pixels are left alone; they do not add up.
 * @returns For each anchor, the height of the spacer above its line on either side; of the two at
 * most one is above zero.
 */
export function spacerHeights(
  tops: readonly IAnchorTops[],
  slack = 0.75
): IAnchorTops[] {
  let left = 0;
  let right = 0;
  return tops.map(top => {
    const difference = top.left + left - (top.right + right);
    const spacer = { left: 0, right: 0 };
    if (difference > slack) {
      spacer.right = difference;
    } else if (difference < -slack) {
      spacer.left = -difference;
    }
    left += spacer.left;
    right += spacer.right;
    return spacer;
  });
}

function candidates(
  left: readonly Region[],
  right: readonly Region[]
): IPair[] {
  const rights = byIdentity(right);
  const pairs: IPair[] = [];
  for (const [identity, ours] of byIdentity(left)) {
    const theirs = rights.get(identity);
    if (!theirs) {
      continue;
    }
    const isEveryPair = ours.length * theirs.length <= MAX_PAIRS_OF_A_KEY;
    ours.forEach((a, i) => {
      for (const b of isEveryPair ? theirs : theirs.slice(i, i + 1)) {
        pairs.push({
          key: a.key,
          left: a.start,
          right: b.start,
          weight: WEIGHT[a.kind] ?? 0
        });
      }
    });
  }
  return pairs;
}

function byIdentity(regions: readonly Region[]): Map<string, Region[]> {
  const groups = new Map<string, Region[]>();
  const sorted = regions
    .filter(region => region.key && WEIGHT[region.kind])
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

function heaviestChain(pairs: readonly IPair[]): IAnchor[] {
  const lines = [...new Set(pairs.map(pair => pair.right))].sort(
    (a, b) => a - b
  );
  const rank = new Map(lines.map((line, i) => [line, i + 1]));
  // A Fenwick tree of prefix maxima: rank of the right line → the best chain that ends there.
  const tree = new Int32Array(lines.length + 1).fill(-1);
  const total = new Float64Array(pairs.length);
  const previous = new Int32Array(pairs.length).fill(-1);
  let best = -1;

  pairs.forEach((pair, i) => {
    const at = rank.get(pair.right)!;
    for (let j = at - 1; j > 0; j -= j & -j) {
      if (
        tree[j] >= 0 &&
        (previous[i] < 0 || total[tree[j]] > total[previous[i]])
      ) {
        previous[i] = tree[j];
      }
    }
    total[i] = pair.weight + (previous[i] < 0 ? 0 : total[previous[i]]);
    for (let j = at; j <= lines.length; j += j & -j) {
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
