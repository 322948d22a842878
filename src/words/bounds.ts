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
      return trans.__('CPU-bound');
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
      return trans.__('What the host does around the kernels takes longest');
    case 'memory':
      return trans.__('Kernels wait for memory: fewer bytes would be faster');
    case 'compute':
      return trans.__('Kernels reckon all the time: less work would be faster');
    case 'unclear':
      return trans.__('The figures point to no one thing');
  }
}
