import type { ColdSwitch } from '../../../protocol/types';

/**
 * The names that the kernel gives to rows without a setting.
 */
const UNCHANGED = 'as it is';

/**
 * Whether a row is of the unchanged settings: the first time, or again.
 */
export function isUnchanged(row: ColdSwitch): boolean {
  return row.switch === UNCHANGED;
}

/**
 * Whether a first call was measured.
 */
export function isMeasured(row: ColdSwitch): boolean {
  return row.cold_s !== null || row.warm_s !== null;
}
