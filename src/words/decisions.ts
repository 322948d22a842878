import { TranslationBundle } from '@jupyterlab/translation';
import { Decision } from '../protocol/types';

/**
 * What kind of choice a missing device left to a rule.
 */
export function decisionTitle(
  kind: Decision['kind'],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'dispatch':
      return trans.__('Kernel of an operator');
    case 'padding':
      return trans.__('Padding');
    case 'autotuning':
      return trans.__('Launch configuration');
    case 'algorithm':
      return trans.__('Library or template');
    case 'constant':
      return trans.__('Constant');
    case 'other':
      return trans.__('Choice');
  }
}
