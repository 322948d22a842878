import type { IChains, ISegment } from './chains';
import { SPACING } from './types';

const SWEEPS = 10;

/**
 * The middles of all items: each near its neighbors, long edges straight, the
 * order in the ranks kept and nothing touching.
 *
 * Each rank in turn is put where the rank before it wants it: the places that
 * are nearest to the desired ones, by least squares, with the distances kept (a
 * regression on a monotone sequence, solved exactly by pooling neighbors).
 */
export function* assignX(
  chains: IChains,
  order: readonly (readonly number[])[]
): Generator<void, Float64Array, void> {
  const { widths, ranks, segments } = chains;
  const x = new Float64Array(ranks.length);
  const up: ISegment[][] = Array.from({ length: ranks.length }, () => []);
  const down: ISegment[][] = Array.from({ length: ranks.length }, () => []);
  for (const segment of segments) {
    down[segment.a].push(segment);
    up[segment.b].push(segment);
  }
  const shifts = order.map(rank => distances(rank, chains));
  order.forEach((rank, r) => {
    const middle = (shifts[r][rank.length - 1] ?? 0) / 2;
    rank.forEach((item, at) => (x[item] = shifts[r][at] - middle));
  });
  const desired = new Float64Array(ranks.length);
  const force = new Float64Array(ranks.length);
  const large = segments.length > 20000;
  for (let sweep = 0; sweep < (large ? 4 : SWEEPS); sweep++) {
    const isDown = sweep % 2 === 0;
    const isLast = sweep >= (large ? 2 : SWEEPS - 2);
    for (let step = 0; step < order.length; step++) {
      const r = isDown ? step : order.length - 1 - step;
      for (const item of order[r]) {
        let sum = 0;
        let weight = 0;
        if (isDown || isLast) {
          for (const { a, aX, bX, weight: w } of up[item]) {
            sum += w * (x[a] + aX - bX);
            weight += w;
          }
        }
        if (!isDown || isLast) {
          for (const { b, aX, bX, weight: w } of down[item]) {
            sum += w * (x[b] + bX - aX);
            weight += w;
          }
        }
        desired[item] = weight > 0 ? sum / weight : x[item];
        // What has no neighbors there gives way.
        force[item] =
          weight > 0
            ? chains.isBend(item)
              ? 4
              : 1 + widths[item] / 400
            : 0.02;
      }
      placeRank(order[r], shifts[r], desired, force, x);
    }
    yield;
  }
  for (let pass = 0; pass < 3; pass++) {
    straighten(chains, order, down, x);
  }
  return x;
}

/**
 * Make long edges as straight as their neighbors leave room for.
 */
function straighten(
  { isBend, ranks, widths }: IChains,
  order: readonly (readonly number[])[],
  down: readonly (readonly ISegment[])[],
  x: Float64Array
): void {
  const left = new Float64Array(x.length).fill(-Infinity);
  const right = new Float64Array(x.length).fill(Infinity);
  const room = (item: number) =>
    isBend(item) ? SPACING.edge / 2 : widths[item] / 2 + SPACING.box / 3;
  for (const rank of order) {
    rank.forEach((item, at) => {
      if (at > 0) {
        left[item] = x[rank[at - 1]] + room(rank[at - 1]) + SPACING.edge / 2;
      }
      if (at + 1 < rank.length) {
        right[item] = x[rank[at + 1]] - room(rank[at + 1]) - SPACING.edge / 2;
      }
    });
  }
  const next = (item: number) =>
    down[item].find(segment => isBend(segment.b))?.b ?? -1;
  const isDone = new Uint8Array(x.length);
  for (let item = 0; item < ranks.length; item++) {
    if (!isBend(item) || isDone[item]) {
      continue;
    }
    // As far down as there is one place that is free in all ranks.
    const run: number[] = [];
    let low = -Infinity;
    let high = Infinity;
    let sum = 0;
    for (let at = item; at >= 0 && !isDone[at]; at = next(at)) {
      const least = Math.max(low, left[at]);
      const most = Math.min(high, right[at]);
      if (least > most) {
        break;
      }
      low = least;
      high = most;
      run.push(at);
      sum += x[at];
    }
    const place = Math.max(low, Math.min(high, sum / run.length));
    for (const member of run) {
      isDone[member] = 1;
      x[member] = place;
    }
  }
}

/**
 * The least distance of each item of a rank from the first, middle to middle.
 */
function distances(
  rank: readonly number[],
  { widths, isBend }: IChains
): Float64Array {
  const shift = new Float64Array(rank.length);
  for (let at = 1; at < rank.length; at++) {
    const a = rank[at - 1];
    const b = rank[at];
    const gap =
      isBend(a) && isBend(b)
        ? SPACING.edge
        : isBend(a) || isBend(b)
          ? SPACING.box / 2
          : SPACING.box;
    const width = (isBend(a) ? 0 : widths[a]) + (isBend(b) ? 0 : widths[b]);
    shift[at] = shift[at - 1] + width / 2 + gap;
  }
  return shift;
}

/**
 * Give a rank the places nearest to the desired ones.
 */
function placeRank(
  rank: readonly number[],
  shift: Float64Array,
  desired: Float64Array,
  force: Float64Array,
  x: Float64Array
): void {
  const values: number[] = [];
  const weights: number[] = [];
  const sizes: number[] = [];
  rank.forEach((item, at) => {
    let value = desired[item] - shift[at];
    let weight = force[item];
    let size = 1;
    while (values.length > 0 && values[values.length - 1] > value) {
      const before = values.pop()!;
      const with_ = weights.pop()!;
      value = (value * weight + before * with_) / (weight + with_);
      weight += with_;
      size += sizes.pop()!;
    }
    values.push(value);
    weights.push(weight);
    sizes.push(size);
  });
  let at = 0;
  values.forEach((value, pool) => {
    for (let i = 0; i < sizes[pool]; i++, at++) {
      x[rank[at]] = value + shift[at];
    }
  });
}
