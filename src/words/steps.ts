import type { TranslationBundle } from '@jupyterlab/translation';
import type { Step } from '../protocol/types';
import { STEP_KINDS } from '../protocol/types';

/**
 * The kinds of steps, in the order of a call.
 */
export const KIND_ORDER = Object.keys(STEP_KINDS) as Step['kind'][];

/**
 * What a kind of step is called, in the reader's language.
 */
export function kindTitle(
  kind: Step['kind'],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'entry':
      return trans.__('entry');
    case 'check':
      return trans.__('input checks');
    case 'constant':
      return trans.__('constants and sizes');
    case 'stream':
      return trans.__('device and stream');
    case 'allocation':
      return trans.__('allocation');
    case 'view':
      return trans.__('view');
    case 'load':
      return trans.__('kernel load');
    case 'launch':
      return trans.__('kernel launch');
    case 'call':
      return trans.__('extern call');
    case 'free':
      return trans.__('free');
    case 'return':
      return trans.__('return');
    case 'other':
      return trans.__('other');
  }
}

/**
 * The class of an element in a kind's colour.
 */
export function kindClass(kind: Step['kind']): string {
  return `jp-Compilescope-step jp-mod-${kind}`;
}
