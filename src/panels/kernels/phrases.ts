import type { TranslationBundle } from '@jupyterlab/translation';
import type { Kernel } from '../../protocol/types';
import { RESOURCES } from '../../protocol/types';
import {
  formatBytes,
  formatCount,
  formatMicroseconds,
  formatShare
} from '../../words/format';
import { TABLES } from '../../words/tables';
import type { IRow, ISum } from './rows';

/**
 * What a kernel is written in.
 */
export function languageTitle(
  language: Kernel['language'],
  trans: TranslationBundle
): string {
  return TABLES.kernels(trans).language.words[language];
}

/**
 * What a resource of a kernel is called, and how much of it it takes. One that
 * is not known here keeps torch's name.
 */
export function resourceText(
  name: string,
  value: number
): readonly [string, string] {
  const format = FORMATS[name] ?? formatCount;
  return [RESOURCES[name] ?? name, format(value)];
}

const FORMATS: Readonly<Record<string, (value: number) => string>> = {
  spills: formatBytes,
  shared_bytes: formatBytes,
  shared: formatBytes,
  occupancy: formatShare,
  compile_us: formatMicroseconds
};

/**
 * Of what launches a sum is: `Total of 8 launches, 16.0 KiB to 2.00 MiB each`. Empty
 * where there is just one.
 */
export function sumText(
  { known, of, least, most }: ISum,
  format: (value: number) => string,
  trans: TranslationBundle
): string {
  if (of === 0) {
    return trans.__('one launch; this wrapper does not launch it');
  }
  if (of === 1) {
    return '';
  }
  const launches =
    known < of
      ? trans.__(
          'Total of %1 of %2 launches: the others have no estimate',
          known,
          of
        )
      : trans.__('Total of %1 launches', of);
  const perLaunch =
    least === most
      ? trans.__('%1 each', format(least))
      : trans.__('%1 to %2 each', format(least), format(most));
  return `${launches}, ${perLaunch}`;
}

/**
 * By what the estimated time of a kernel's launches is, and of how many.
 */
export function leastText(
  { least, launches }: IRow,
  trans: TranslationBundle
): string {
  const bounds = new Set(launches.map(launch => launch.least_bound));
  const [bound] = bounds.size === 1 ? bounds : [''];
  const by =
    bound === 'memory'
      ? trans.__('Lower bound: bytes read and written, at peak bandwidth')
      : bound === 'compute'
        ? trans.__('Lower bound: operations, at the peak rate')
        : bound === 'launch'
          ? trans.__('The time to launch it: the kernel itself takes less')
          : '';
  return [by, sumText(least, formatMicroseconds, trans)]
    .filter(Boolean)
    .join('\n');
}

/**
 * What limits a kernel's occupancy.
 */
export function limitText(limit: string, trans: TranslationBundle): string {
  return limit ? trans.__('Limited by %1', limit) : '';
}
