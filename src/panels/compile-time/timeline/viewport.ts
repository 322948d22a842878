/**
 * The visible time range, in µs.
 */
export interface IWindow {
  readonly start: number;
  readonly end: number;
}

/**
 * The shortest visible range, in µs.
 */
const MIN_RANGE_US = 1;

/**
 * Zooms so that a moment stays in place.
 *
 * @param factor - Below 1 zooms in.
 * @param at - The moment, in µs.
 * @param total - The full length, in µs.
 */
export function zoom(
  { start, end }: IWindow,
  factor: number,
  at: number,
  total: number
): IWindow {
  const length = Math.min(
    Math.max((end - start) * factor, Math.min(MIN_RANGE_US, total)),
    total
  );
  const share = end > start ? (at - start) / (end - start) : 0;
  return clamp(at - share * length, length, total);
}

/**
 * Moves by a given time, in µs, but not beyond the ends.
 */
export function pan(
  { start, end }: IWindow,
  by: number,
  total: number
): IWindow {
  return clamp(start + by, end - start, total);
}

/**
 * A window around a span, with a margin; the same window if the span is visible
 * and not too small.
 *
 * @param smallest - The smallest span that counts as visible, as a fraction of
 * the window.
 */
export function reveal(
  window: IWindow,
  start: number,
  duration: number,
  total: number,
  smallest: number
): IWindow {
  const length = window.end - window.start;
  const isInSight = start >= window.start && start + duration <= window.end;
  if (isInSight && duration >= smallest * length) {
    return window;
  }
  if (duration > length || duration < smallest * length) {
    return windowAround(start, duration, total);
  }
  return clamp(start + duration / 2 - length / 2, length, total);
}

/**
 * The window that a span fills, with a margin.
 */
export function windowAround(
  start: number,
  duration: number,
  total: number
): IWindow {
  const length = Math.min(
    Math.max(duration * 1.1, Math.min(MIN_RANGE_US, total)),
    total
  );
  return clamp(start + duration / 2 - length / 2, length, total);
}

/**
 * Round moments for the ticks of the axis.
 *
 * @param maxTicks - The maximum number of ticks.
 * @returns The moments and their distance, in µs.
 */
export function ticks(
  { start, end }: IWindow,
  maxTicks: number
): { readonly at: readonly number[]; readonly step: number } {
  const rough = (end - start) / Math.max(1, maxTicks);
  if (!(rough > 0)) {
    return { at: [], step: 0 };
  }
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    ([1, 2, 5].find(factor => factor * power >= rough) ?? 10) * power;
  const at: number[] = [];
  for (let n = Math.ceil(start / step - 1e-9); n * step <= end + 1e-9; n++) {
    at.push(n * step);
  }
  return { at, step };
}

/**
 * A moment as text, precise enough to distinguish it from its neighbors.
 */
export function tickLabel(at: number, step: number): string {
  const [unit, factor] =
    step >= 1e5 || (at >= 1e7 && step >= 1e4)
      ? ['s', 1e6]
      : step >= 100
        ? ['ms', 1e3]
        : ['µs', 1];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9));
  return at === 0 ? '0' : `${(at / factor).toFixed(digits)} ${unit}`;
}

function clamp(start: number, length: number, total: number): IWindow {
  const first = Math.min(Math.max(start, 0), Math.max(0, total - length));
  return { start: first, end: first + length };
}
