/**
 * The density of values along an axis.
 */
export interface IDensity {
  readonly x: readonly number[];

  /**
   * Between 0 and 1: the maximum is 1.
   */
  readonly y: readonly number[];
}

/**
 * With fewer values, a curve would suggest more than they show.
 */
const MIN_VALUES = 20;

const BINS = 160;

/**
 * The density of values within a window, smoothed; null if there are too few.
 *
 * @param sorted - In ascending order.
 */
export function densityOf(
  sorted: readonly number[],
  [low, high]: readonly [number, number]
): IDensity | null {
  if (sorted.length < MIN_VALUES || !(high > low)) {
    return null;
  }
  const width = (high - low) / BINS;
  const counts = new Float64Array(BINS);
  for (const value of sorted) {
    const bin = Math.floor((value - low) / width);
    if (bin >= 0 && bin < BINS) {
      counts[bin]++;
    }
  }
  const sigma = Math.max(bandwidthOf(sorted) / width, 0.6);
  const reach = Math.ceil(3 * sigma);
  const kernel = Array.from({ length: 2 * reach + 1 }, (_, i) =>
    Math.exp(-0.5 * ((i - reach) / sigma) ** 2)
  );
  const smooth = new Float64Array(BINS);
  counts.forEach((count, bin) => {
    if (count > 0) {
      for (let i = -reach; i <= reach; i++) {
        if (bin + i >= 0 && bin + i < BINS) {
          smooth[bin + i] += count * kernel[i + reach];
        }
      }
    }
  });
  const most = Math.max(...smooth);
  // Less than a hundredth of the maximum is drawn as the axis itself.
  const x: number[] = [];
  const y: number[] = [];
  smooth.forEach((value, bin) => {
    const share = most > 0 ? value / most : 0;
    x.push(low + (bin + 0.5) * width);
    y.push(share < 0.01 ? 0 : share);
  });
  return { x, y };
}

/**
 * The quantile of the values for a share.
 *
 * @param sorted - In ascending order; at least one.
 */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

/**
 * Silverman's rule with the interquartile range, so that outliers do not count.
 */
function bandwidthOf(sorted: readonly number[]): number {
  const spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.34;
  return 0.9 * spread * sorted.length ** -0.2;
}
