import type { SourceLine } from '../../protocol/types';

/**
 * A duration in microseconds with three digits that count: `12.3 µs`.
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
  if (microseconds < 1e3) {
    return [microseconds, 'µs', 1];
  }
  return microseconds < 1e6
    ? [microseconds / 1e3, 'ms', 1e3]
    : [microseconds / 1e6, 's', 1e6];
}

function digits(value: number): string {
  return value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value.toFixed(2);
}
