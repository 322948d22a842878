import type { TranslationBundle } from '@jupyterlab/translation';
import type { ColdSwitch } from '../../../protocol/types';
import { formatSeconds } from '../../../words/format';

/**
 * What a row is of when it is of no setting, as the kernel names it.
 */
const AS_IT_IS = 'as it is';
const HEADERS_KEPT = 'precompiled headers kept';

/**
 * Whether a row is of the settings as they are: first, or once more.
 */
export function isAsItIs(row: ColdSwitch): boolean {
  return row.switch === AS_IT_IS;
}

/**
 * Whether a first call was measured.
 */
export function isMeasured(row: ColdSwitch): boolean {
  return row.cold_s !== null || row.warm_s !== null;
}

/**
 * What a row is called.
 */
export function coldTitle(row: ColdSwitch, trans: TranslationBundle): string {
  if (isAsItIs(row)) {
    return row.value === ''
      ? trans.__('current settings')
      : trans.__('current settings, again');
  }
  if (row.switch === HEADERS_KEPT) {
    return trans.__('precompiled headers kept');
  }
  const values = row.value.split(', ');
  return row.switch
    .split(', ')
    .map((name, place) => `${name} = ${values[place] ?? ''}`)
    .join(', ');
}

/**
 * Which settings shorten the first call most, in a sentence; empty where none
 * was measured.
 */
export function coldVerdict(
  rows: readonly ColdSwitch[],
  trans: TranslationBundle
): string {
  const told = (
    total: 'cold_s' | 'warm_s',
    more: 'cold_more_s' | 'warm_more_s'
  ) => {
    const [best] = rows
      .filter(row => (row[more] ?? 0) < 0)
      .sort((a, b) => a[more]! - b[more]!);
    return best
      ? trans.__(
          '%1 (%2, %3 less)',
          coldTitle(best, trans),
          formatSeconds(best[total]!),
          formatSeconds(-best[more]!)
        )
      : trans.__('nothing');
  };
  return rows.some(row => isMeasured(row) && !isAsItIs(row))
    ? trans.__(
        'Largest gain: with cold caches %1; with warm caches %2.',
        told('cold_s', 'cold_more_s'),
        told('warm_s', 'warm_more_s')
      )
    : '';
}
