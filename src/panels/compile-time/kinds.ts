import type { TranslationBundle } from '@jupyterlab/translation';
import { PHASE_KINDS } from '../../protocol/types';

/**
 * The kinds of bars in their usual order: of torch's phases, and of the steps
 * of kernels.
 */
export const KINDS: readonly string[] = [
  ...Object.keys(PHASE_KINDS),
  'compile',
  'autotune',
  'first_run',
  'later_run'
];

/**
 * The kind of a phase; `other` if it is unknown.
 */
export function kindOf(kind: string): string {
  return KINDS.includes(kind) ? kind : 'other';
}

/**
 * The label of a kind.
 */
export function kindTitle(kind: string, trans: TranslationBundle): string {
  const known = kindOf(kind);
  switch (known) {
    case 'compile':
      return trans.__('kernel compiled');
    case 'autotune':
      return trans.__('kernel tuned');
    case 'first_run':
      return trans.__('first run of a kernel');
    case 'later_run':
      return trans.__('later run of a kernel');
    default:
      return PHASE_KINDS[known];
  }
}

/**
 * Compares kinds by their usual order.
 */
export function compareKinds(a: string, b: string): number {
  return KINDS.indexOf(kindOf(a)) - KINDS.indexOf(kindOf(b));
}
