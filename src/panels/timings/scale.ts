import { quantile } from './density';
import type { ITimed } from './rows';

/**
 * An axis of times.
 */
export interface IScale {
  /**
   * The shown range, in µs.
   */
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
  readonly unit: string;

  /**
   * The length of a unit, in µs.
   */
  readonly factor: number;
}

/**
 * The fraction of the slowest samples that lie beyond the axis: a few disturbed
 * samples would compress all others.
 */
const BEYOND_AXIS_SHARE = 0.04;

/**
 * If the longest time is at least this many times the shortest, the axis is
 * logarithmic.
 */
const LOG_FROM = 6;

/**
 * An axis on which variants can be compared; null without samples.
 *
 * @param isLog - Whether it is logarithmic; null: if that shows more.
 */
export function scaleOf(
  rows: readonly { row: ITimed; sorted: readonly number[] }[],
  isLog: boolean | null
): IScale | null {
  let low = Infinity;
  let high = 0;
  for (const { row, sorted } of rows) {
    if (sorted.length > 0) {
      low = Math.min(low, sorted[0]);
      high = Math.max(
        high,
        quantile(sorted, 1 - BEYOND_AXIS_SHARE),
        row.interval?.[1] ?? 0,
        row.median ?? 0
      );
    }
  }
  if (!(low > 0 && Number.isFinite(low) && high > 0)) {
    return null;
  }
  const asLog = isLog ?? high / low > LOG_FROM;
  const margin = asLog
    ? (high / low) ** 0.04
    : Math.max((high - low) * 0.05, high * 0.005);
  const [unit, factor] =
    high < 1e3 ? ['µs', 1] : high < 1e6 ? ['ms', 1e3] : ['s', 1e6];
  return {
    low: asLog ? low / margin : Math.max(0, low - margin),
    high: asLog ? high * margin : high + margin,
    isLog: asLog,
    unit: unit as string,
    factor: factor as number
  };
}
