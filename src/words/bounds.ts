import type { TranslationBundle } from '@jupyterlab/translation';
import type { Verdict } from '../protocol/types';

/**
 * What a variant's time is bound by.
 */
export function boundTitle(
  bound: Verdict['bound'],
  trans: TranslationBundle
): string {
  switch (bound) {
    case 'cpu':
      return trans.__('launch- or overhead-bound');
    case 'memory':
      return trans.__('memory-bound');
    case 'compute':
      return trans.__('compute-bound');
    case 'unclear':
      return trans.__('not clear');
  }
}

/**
 * What that means, for who meets the words for the first time.
 */
export function boundMeaning(
  bound: Verdict['bound'],
  trans: TranslationBundle
): string {
  switch (bound) {
    case 'cpu':
      return trans.__('Most time is spent on the host, around the kernels');
    case 'memory':
      return trans.__('Memory-bound: moving fewer bytes would be faster');
    case 'compute':
      return trans.__('Compute-bound: less arithmetic would be faster');
    case 'unclear':
      return trans.__('No single limit stands out');
  }
}
