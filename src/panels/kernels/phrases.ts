import type { TranslationBundle } from '@jupyterlab/translation';
import type { Kernel } from '../../protocol/types';
import { RESOURCE_UNITS, RESOURCES } from '../../protocol/types';
import {
  formatBytes,
  formatCount,
  formatMicroseconds,
  formatShare
} from '../../words/format';
import { TABLES } from '../../words/tables';
import type { ISum } from './rows';

/**
 * The language of a kernel.
 */
export function languageTitle(
  language: Kernel['language'],
  trans: TranslationBundle
): string {
  return TABLES.kernels(trans).language.words[language];
}

/**
 * The label of a kernel's resource, and its format. An unknown resource keeps
 * torch's name.
 */
export function resourceText(
  name: string,
  value: number
): readonly [string, string] {
  const format = FORMATS[RESOURCE_UNITS[name]] ?? formatCount;
  return [RESOURCES[name] ?? name, format(value)];
}

/**
 * Unit of a resource → its format.
 */
const FORMATS: Readonly<Record<string, (value: number) => string>> = {
  bytes: formatBytes,
  share: formatShare,
  us: formatMicroseconds
};

/**
 * The launches that a sum covers: `Total of 8 launches, 16.0 KiB to 2.00 MiB
 * each`. Empty for a single launch.
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
 * The limit of a kernel's occupancy.
 */
export function limitText(limit: string, trans: TranslationBundle): string {
  return limit ? trans.__('Limited by %1', limit) : '';
}
