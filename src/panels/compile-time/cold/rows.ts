import type { ColdSwitch } from '../../../protocol/types';

/**
 * What a row is of when it is of no setting, as the kernel names it.
 */
const AS_IT_IS = 'as it is';

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
