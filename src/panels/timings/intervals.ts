/**
 * How many times as long one call takes as another, as `analysis/figures/intervals.py`
 * reckons it: a plot shows it after any number of rounds, which the kernel does
 * not keep.
 */
export interface IRatio {
  readonly value: number;

  /**
   * The 99 % interval.
   */
  readonly low: number;
  readonly high: number;
}

const FEWEST_BLOCKS = 16;

/**
 * How many tails make the whole, each of them half of what 99 % leaves.
 */
const TAILS = 200;

/**
 * The ratio of two calls that were timed in the same rounds.
 *
 * Rounds are cut into blocks, since samples that follow each
 * other are alike; each block counts by the mean of the middle half of its log
 * ratios, and the blocks by Wilcoxon's signed ranks.
 *
 * @param logs - The logarithm of each round's ratio, in their order; at least
 * one.
 */
export function ratioOf(logs: ArrayLike<number>): IRatio {
  const centres = blocksOf(logs).map(middleMean);
  const means = centres
    .flatMap((one, place) =>
      centres.slice(place).map(other => (one + other) / 2)
    )
    .sort(ascending);
  const value = medianOfSorted(means);
  const edge = wilcoxonEdge(centres.length);
  const widening = edge === null ? 1 : wideningOf(centres);
  const low = means[edge ?? 0];
  const high = means[means.length - 1 - (edge ?? 0)];
  return {
    value: Math.exp(value),
    low: Math.exp(value - widening * (value - low)),
    high: Math.exp(value + widening * (high - value))
  };
}

/**
 * The middle of numbers.
 *
 * @param values - At least one.
 */
export function medianOf(values: readonly number[]): number {
  return medianOfSorted([...values].sort(ascending));
}

export function ascending(a: number, b: number): number {
  return a - b;
}

function medianOfSorted(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  return sorted.length % 2
    ? sorted[middle]
    : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Blocks of one length; what is over, less than a block, is in none. The length
 * is odd: the mean of two values in the middle would not have the median of
 * what it is drawn from.
 */
function blocksOf(values: ArrayLike<number>): number[][] {
  let length = 1;
  while (values.length >= FEWEST_BLOCKS * (2 * length + 1)) {
    length = 2 * length + 1;
  }
  return Array.from(
    { length: Math.floor(values.length / length) },
    (_, place) =>
      Array.prototype.slice.call(
        values,
        place * length,
        (place + 1) * length
      ) as number[]
  );
}

function middleMean(values: number[]): number {
  const cut = values.length >> 2;
  const middle = values.sort(ascending).slice(cut, values.length - cut);
  return middle.reduce((sum, each) => sum + each, 0) / middle.length;
}

/**
 * How much wider an interval must be for blocks that resemble the next one.
 */
function wideningOf(centres: readonly number[]): number {
  const middle = medianOf(centres);
  const off = centres.map(each => each - middle);
  const spread = off.reduce((sum, each) => sum + each * each, 0);
  if (!spread) {
    return 1;
  }
  const next = off
    .slice(1)
    .reduce((sum, each, place) => sum + each * off[place], 0);
  const alike = Math.min(Math.max(next / spread, 0), 0.8);
  return Math.sqrt((1 + alike) / (1 - alike));
}

const EDGES = new Map<number, number | null>();

/**
 * How many of the smallest (and largest) means of two blocks are outside of the
 * interval; null if none can be. There are 31 blocks at most.
 */
function wilcoxonEdge(count: number): number | null {
  const known = EDGES.get(count);
  if (known !== undefined) {
    return known;
  }
  // ways[s]: how many of the equally likely choices of signs have positive
  // ranks that add up to s.
  let ways = [1];
  for (let rank = 1; rank <= count; rank++) {
    const longer = [...ways, ...new Array<number>(rank).fill(0)];
    ways.forEach((number, total) => {
      longer[total + rank] += number;
    });
    ways = longer;
  }
  let below = 0;
  let edge = 0;
  while (TAILS * (below + ways[edge]) <= 2 ** count) {
    below += ways[edge];
    edge++;
  }
  const found = edge > 0 ? edge - 1 : null;
  EDGES.set(count, found);
  return found;
}
