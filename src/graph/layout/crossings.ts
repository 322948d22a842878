import type { IChains, ISegment } from './chains';

/**
 * Items in each rank, from left to right, ordered so that few edges cross.
 *
 * Sweeps down and up put each item at the mean of its neighbors; the best order
 * that was met is kept. Stops when sweeps no longer help, or when enough was
 * tried.
 */
export function* orderRanks(
  chains: IChains,
  places: readonly number[]
): Generator<void, number[][], void> {
  const { ranks, segments } = chains;
  const count = ranks.length;
  const up: ISegment[][] = Array.from({ length: count }, () => []);
  const down: ISegment[][] = Array.from({ length: count }, () => []);
  for (const segment of segments) {
    down[segment.a].push(segment);
    up[segment.b].push(segment);
  }
  let order = firstOrder(chains, places, up, down);
  const position = new Float64Array(count);
  const number = (rank: readonly number[]) =>
    rank.forEach((item, at) => (position[item] = at));
  order.forEach(number);
  let best = order.map(rank => [...rank]);
  let fewest = crossings(order, down, position);
  const most = segments.length > 20000 ? 2 : segments.length > 4000 ? 6 : 16;
  let useless = 0;
  for (let sweep = 0; sweep < most && fewest > 0 && useless < 4; sweep++) {
    const isDown = sweep % 2 === 0;
    for (let step = 1; step < order.length; step++) {
      const rank = order[isDown ? step : order.length - 1 - step];
      const near = isDown ? up : down;
      const mean = new Map<number, number>();
      for (const item of rank) {
        let sum = 0;
        let weight = 0;
        for (const segment of near[item]) {
          const other = isDown ? segment.a : segment.b;
          const shift = isDown ? segment.aX : segment.bX;
          sum += position[other] + shift / (chains.widths[other] + 1);
          weight++;
        }
        mean.set(item, weight > 0 ? sum / weight : position[item]);
      }
      rank.sort(
        (a, b) => mean.get(a)! - mean.get(b)! || position[a] - position[b]
      );
      number(rank);
    }
    const now = crossings(order, down, position);
    if (now < fewest) {
      fewest = now;
      best = order.map(rank => [...rank]);
      useless = 0;
    } else {
      useless++;
    }
    yield;
  }
  order = best;
  return order;
}

/**
 * An order to begin with: as a walk from item to neighbor meets them, so that
 * what belongs together stands together.
 */
function firstOrder(
  { ranks }: IChains,
  places: readonly number[],
  up: readonly ISegment[][],
  down: readonly ISegment[][]
): number[][] {
  let last = -1;
  for (const rank of ranks) {
    last = Math.max(last, rank);
  }
  const order: number[][] = Array.from({ length: last + 1 }, () => []);
  const isSeen = new Uint8Array(ranks.length);
  const boxes = places.map((_, i) => i);
  boxes.sort((a, b) => places[a] - places[b] || a - b);
  for (const first of boxes) {
    const stack = [first];
    while (stack.length > 0) {
      const item = stack.pop()!;
      if (isSeen[item]) {
        continue;
      }
      isSeen[item] = 1;
      order[ranks[item]].push(item);
      for (let i = down[item].length - 1; i >= 0; i--) {
        stack.push(down[item][i].b);
      }
      for (let i = up[item].length - 1; i >= 0; i--) {
        stack.push(up[item][i].a);
      }
    }
  }
  return order;
}

/**
 * How many pairs of segments cross.
 */
function crossings(
  order: readonly (readonly number[])[],
  down: readonly (readonly ISegment[])[],
  position: ArrayLike<number>
): number {
  let sum = 0;
  for (let rank = 0; rank + 1 < order.length; rank++) {
    const size = order[rank + 1].length;
    const tree = new Int32Array(size + 1);
    let added = 0;
    for (const item of order[rank]) {
      const ends = down[item].map(segment => position[segment.b]);
      for (const end of ends) {
        // Those to the left of it, itself counted too.
        let before = 0;
        for (let at = end + 1; at > 0; at -= at & -at) {
          before += tree[at];
        }
        sum += added - before;
      }
      for (const end of ends) {
        for (let at = end + 1; at <= size; at += at & -at) {
          tree[at]++;
        }
        added++;
      }
    }
  }
  return sum;
}
