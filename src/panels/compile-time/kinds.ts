import type { TranslationBundle } from '@jupyterlab/translation';
import { PHASE_KINDS } from '../../protocol/types';

const ORDER = Object.keys(PHASE_KINDS);

/**
 * The kind of a phase, `other` where torch has one that is not known.
 */
export function kindOf(kind: string): string {
  return kind in PHASE_KINDS ? kind : 'other';
}

/**
 * What a kind is called, in the reader's language.
 */
export function kindTitle(kind: string, trans: TranslationBundle): string {
  switch (kindOf(kind)) {
    case 'dynamo':
      return trans.__('Dynamo');
    case 'guards':
      return trans.__('guards');
    case 'aot_autograd':
      return trans.__('AOTAutograd');
    case 'passes':
      return trans.__('graph passes');
    case 'lowering':
      return trans.__('lowering');
    case 'scheduling':
      return trans.__('scheduling');
    case 'code_generation':
      return trans.__('code generation');
    case 'autotuning':
      return trans.__('autotuning');
    case 'triton':
      return trans.__('Triton');
    case 'cpp_build':
      return trans.__('C++ build');
    case 'cache':
      return trans.__('caches');
    case 'load':
      return trans.__('loading');
    default:
      return trans.__('other');
  }
}

/**
 * Compare kinds by the order in which they usually come.
 */
export function compareKinds(a: string, b: string): number {
  return ORDER.indexOf(kindOf(a)) - ORDER.indexOf(kindOf(b));
}
