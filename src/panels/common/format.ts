export {
  formatMicroseconds,
  formatPlace,
  formatSeconds
} from '../sidebar/format';
import { formatMicroseconds } from '../sidebar/format';

/**
 * A duration in nanoseconds: `85 ns`, from a microsecond on `1.24 µs`.
 */
export function formatNanoseconds(nanoseconds: number): string {
  if (nanoseconds < 0.05) {
    return '0 ns';
  }
  return nanoseconds < 1e3
    ? `${nanoseconds.toFixed(nanoseconds < 10 ? 1 : 0)} ns`
    : formatMicroseconds(nanoseconds / 1e3);
}

/**
 * The name of a frame. What Dynamo compiles from behind a graph break on, it
 * calls `torch_dynamo_resume_in_f_at_9`: that is `f` from line 9 on.
 *
 * @param from - Says so of a name and a line: `%1 from line %2`.
 */
export function formatFrame(
  name: string,
  from: (name: string, line: string) => string
): string {
  const found = /^torch_dynamo_resume_in_(.+)_at_(\d+)$/.exec(name);
  return found ? from(found[1].replace(/_dot_/g, '.'), found[2]) : name;
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
  return `${percent.toFixed(percent > 0 && percent < 1 ? 1 : 0)} %`;
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
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/**
 * A number with its thousands apart: `12,345`.
 */
export function formatCount(count: number): string {
  return count.toLocaleString('en');
}
