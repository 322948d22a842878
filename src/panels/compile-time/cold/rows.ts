import type { ColdSwitch } from '../../../protocol/types';

/**
 * What a row is of when it is of no setting, as the kernel names it.
 */
const UNCHANGED = 'as it is';

/**
 * Whether a row is of the settings as they are: first, or once more.
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
