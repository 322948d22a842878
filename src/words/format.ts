import type { TranslationBundle } from '@jupyterlab/translation';
import type { SourceLine } from '../protocol/types';

/**
 * Of all dates, times and figures, as the kernel writes them too.
 */
const LOCALE = 'en';

/**
 * Times below this, in microseconds, are rounding errors of zero.
 */
const ZERO_US = 1e-6;

/**
 * The share of a limit from which three digits round up to the limit.
 */
const ROUNDS_UP = 0.9995;

/**
 * A duration in microseconds with three significant digits: `12.3 µs`; below
 * 0.1 µs, as estimates of small kernels are, `4.31 ns`. For what the panel draws
 * by itself: charts, and figures that a report holds as numbers. The rules are
 * those of `kernel/compilescope/report/units.py`, and both are tested with
 * `tests/data/formats.json`.
 */
export function formatMicroseconds(microseconds: number): string {
  const [value, unit] = scale(microseconds);
  return `${digits(value)} ${unit}`;
}

/**
 * An interval: `12.1–12.6 µs`; a wide one with two units.
 */
export function formatInterval([low, high]: readonly [number, number]): string {
  const [, unit, factor] = scale(high);
  if (low >= ZERO_US && low / factor < 0.1) {
    return `${formatMicroseconds(low)}–${formatMicroseconds(high)}`;
  }
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
 * The local time of day of a time since the epoch, in seconds: `14:05:07`, as in a
 * cell's text.
 */
export function formatTimeOfDay(seconds: number): string {
  return TIME_OF_DAY.format(seconds * 1000);
}

/**
 * A date with its time of day: `Mar 4, 2026, 05:06:07`.
 */
export function formatDate(date: Date): string {
  return DATE.format(date);
}

const DATE = new Intl.DateTimeFormat(LOCALE, {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23'
});

const TIME_OF_DAY = new Intl.DateTimeFormat(LOCALE, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23'
});

/**
 * An estimated time in seconds, as exact as an estimate is: `about 3 min`.
 */
export function formatRoughly(
  seconds: number,
  trans: TranslationBundle
): string {
  if (seconds < 90) {
    const rounded = Number(fixed(seconds / 10, 0)) * 10;
    return trans.__('about %1 s', Math.max(10, rounded));
  }
  return seconds < 5400
    ? trans.__('about %1 min', fixed(seconds / 60, 0))
    : trans.__('about %1 h', fixed(seconds / 3600, 1));
}

/**
 * How many times as fast: `1.35×`.
 */
export function formatRatio(ratio: number): string {
  return `${fixed(ratio, ratio < 10 ? 2 : 0)}×`;
}

/**
 * A place in the user's code, short: `cell [7], line 3` in a notebook, whose cells
 * have file names that mean nothing to anyone, `cell line 3` if the cell's number is
 * unknown; `model.py:12` in a file.
 */
export function formatPlace(
  where: Pick<SourceLine, 'file' | 'line' | 'cell'>,
  files: Readonly<Record<string, string>>,
  trans: TranslationBundle
): string {
  const { file, line } = where;
  const cell = where.cell ?? /^<ipython-input-(\d+)-/.exec(file)?.[1];
  if (cell !== undefined) {
    return trans.__('cell [%1], line %2', cell, line);
  }
  return file in files || /[\\/]ipykernel_\d+[\\/]/.test(file)
    ? trans.__('cell line %1', line)
    : `${file.split(/[\\/]/).pop()}:${line}`;
}

/**
 * A number with so many decimals; exact halves go to the even digit, as in
 * Python: `toFixed` rounds them up.
 */
function fixed(value: number, decimals: number): string {
  return formatterOf(`${decimals} decimals`, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals
  }).format(value);
}

/**
 * A number with up to so many significant digits.
 */
function significant(value: number, digits: number): string {
  return formatterOf(`${digits} digits`, {
    maximumSignificantDigits: digits
  }).format(value);
}

const formatters = new Map<string, Intl.NumberFormat>();

/**
 * Making one takes longer than a thousand uses.
 */
function formatterOf(
  name: string,
  options: Intl.NumberFormatOptions
): Intl.NumberFormat {
  let formatter = formatters.get(name);
  if (formatter === undefined) {
    formatter = new Intl.NumberFormat(LOCALE, {
      useGrouping: false,
      roundingMode: 'halfEven',
      ...options
    });
    formatters.set(name, formatter);
  }
  return formatter;
}

function scale(microseconds: number): [number, string, number] {
  const size = Math.abs(microseconds);
  if (size >= ZERO_US && size < 0.1) {
    return [microseconds * 1e3, 'ns', 1e-3];
  }
  // 999.6 µs would round to 1000 µs, so the larger unit starts where rounding
  // reaches it.
  if (size < 1e3 * ROUNDS_UP) {
    return [microseconds, 'µs', 1];
  }
  return size < 1e6 * ROUNDS_UP
    ? [microseconds / 1e3, 'ms', 1e3]
    : [microseconds / 1e6, 's', 1e6];
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= ZERO_US * 1e3 && size < 0.01) {
    return significant(value, 2);
  }
  return fixed(
    value,
    size >= 100 * ROUNDS_UP ? 0 : size >= 10 * ROUNDS_UP ? 1 : 2
  );
}

/**
 * A duration in nanoseconds: `85 ns`, from a microsecond on `1.24 µs`. The cost of
 * a guard is the difference of two measurements: nothing costs exactly nothing.
 */
export function formatNanoseconds(nanoseconds: number): string {
  if (nanoseconds < 1) {
    return '<1 ns';
  }
  return nanoseconds < 1e3
    ? `${fixed(nanoseconds, nanoseconds < 10 ? 1 : 0)} ns`
    : formatMicroseconds(nanoseconds / 1e3);
}

/**
 * A figure with three digits and a prefix: `1.25 GB`, `2.1 G`.
 */
export function formatQuantity(value: number, unit = ''): string {
  const prefixes: readonly (readonly [number, string])[] = [
    [1e15, 'P'],
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k']
  ];
  const [factor, prefix] = prefixes.find(
    ([least]) => value >= least * ROUNDS_UP
  ) ?? [1, ''];
  const between = prefix && unit !== unit.toUpperCase() ? ' ' : '';
  const digits = significant(value / factor, 3);
  return `${digits} ${prefix}${between}${unit}`.trim();
}

/**
 * How far two results are apart, with two digits: `0.012`, `1.2e-07`.
 */
export function formatDifference(value: number): string {
  if (value === 0) {
    return '0';
  }
  // Each limit is where two digits round up to the next power of ten.
  if (value < 0.00995 || value >= 99.5) {
    // With two digits of an exponent, as Python writes them.
    return value.toExponential(1).replace(/(?<=[+-])(?=\d$)/, '0');
  }
  return value.toFixed(
    value < 0.0995 ? 3 : value < 0.995 ? 2 : value < 9.95 ? 1 : 0
  );
}

/**
 * A part of a whole: `12 %`, below a percent `0.4 %`, at least `< 0.1 %`.
 *
 * @param share - Between 0 and 1.
 */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.05) {
    return '< 0.1 %';
  }
  return `${fixed(percent, percent > 0 && percent < 1 ? 1 : 0)} %`;
}

/**
 * A time that passes, in whole seconds: `12 s`, `1 min 05 s`.
 */
export function formatElapsed(
  seconds: number,
  trans: TranslationBundle
): string {
  const whole = Math.floor(seconds);
  return whole < 60
    ? trans.__('%1 s', whole)
    : trans.__(
        '%1 min %2 s',
        Math.floor(whole / 60),
        String(whole % 60).padStart(2, '0')
      );
}

/**
 * A number of bytes: `1.5 KiB`.
 */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${fixed(value, digits)} ${units[unit]}`;
}

/**
 * A whole number with separated thousands: `12,345`.
 */
export function formatCount(count: number): string {
  return formatterOf('grouped', { useGrouping: true }).format(count);
}

/**
 * A name that fits; the table has it in full.
 */
export function shorten(name: string, maxLength: number): string {
  return name.length > maxLength ? `${name.slice(0, maxLength - 1)}…` : name;
}

/**
 * Whether a variant's title begins with its name: `cpp on h100 (H100 SXM)`.
 */
export function hasName(title: string, name: string): boolean {
  return title === name || title.startsWith(`${name} (`);
}
