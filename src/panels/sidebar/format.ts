import type { SourceLine } from '../../protocol/types';

/**
 * Less than that is what rounding leaves of nothing, in microseconds.
 */
const LEAST = 1e-6;

/**
 * A duration in microseconds with three digits that count: `12.3 µs`. Far below
 * one, as estimates of small kernels are, `4.31 ns`.
 */
export function formatMicroseconds(microseconds: number): string {
  const [value, unit] = scale(microseconds);
  return `${digits(value)} ${unit}`;
}

/**
 * An interval in the unit of its middle: `12.1–12.6 µs`.
 */
export function formatInterval([low, high]: readonly [number, number]): string {
  const [, unit, factor] = scale(high);
  const [first, last] = [digits(low / factor), digits(high / factor)];
  return first === last ? `${last} ${unit}` : `${first}–${last} ${unit}`;
}

/**
 * A duration in seconds: `1.24 s`, below a second `240 ms`.
 */
export function formatSeconds(seconds: number): string {
  return formatMicroseconds(seconds * 1e6);
}

/**
 * How many times as fast: `1.35×`.
 */
export function formatRatio(ratio: number): string {
  return `${ratio.toFixed(ratio < 10 ? 2 : 0)}×`;
}

/**
 * A place in the user's code, short: `cell:3` in a notebook, `model.py:12` in a
 * file.
 *
 * @param cell - The word for a notebook's cell.
 */
export function formatPlace(
  where: SourceLine,
  files: Record<string, string>,
  cell: string
): string {
  const isCell =
    where.file in files || /ipykernel_\d+|<ipython/.test(where.file);
  const name = isCell ? cell : where.file.split(/[\\/]/).pop();
  return `${name}:${where.line}`;
}

function scale(microseconds: number): [number, string, number] {
  const size = Math.abs(microseconds);
  if (size >= LEAST && size < 0.1) {
    return [microseconds * 1e3, 'ns', 1e-3];
  }
  if (microseconds < 1e3) {
    return [microseconds, 'µs', 1];
  }
  return microseconds < 1e6
    ? [microseconds / 1e3, 'ms', 1e3]
    : [microseconds / 1e6, 's', 1e6];
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= LEAST * 1e3 && size < 0.01) {
    return Number(value.toPrecision(2)).toString();
  }
  return value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value.toFixed(2);
}
