import type { Step } from '../protocol/types';
import { STEP_KINDS } from '../protocol/types';

/**
 * The kinds of steps, in the order of a call.
 */
export const KIND_ORDER = Object.keys(STEP_KINDS) as Step['kind'][];

/**
 * The title of a kind of step.
 */
export function kindTitle(kind: Step['kind']): string {
  return STEP_KINDS[kind];
}

/**
 * The class of an element in a kind's color.
 */
export function kindClass(kind: Step['kind']): string {
  return `jp-Compilescope-step jp-mod-${kind}`;
}
