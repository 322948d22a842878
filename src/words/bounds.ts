import type { TranslationBundle } from '@jupyterlab/translation';
import type { Verdict } from '../protocol/types';

/**
 * What a variant's time is bound by.
 */
export function boundTitle(
  verdict: Pick<Verdict, 'bound' | 'limited_by'>,
  trans: TranslationBundle
): string {
  switch (verdict.limited_by || verdict.bound) {
    case 'launch':
      return trans.__('launch-bound');
    case 'overhead':
      return trans.__('overhead-bound');
    case 'cpu': // in reports of earlier versions, which did not tell these apart
      return trans.__('launch- or overhead-bound');
    case 'memory':
      return trans.__('memory-bound');
    case 'compute':
      return trans.__('compute-bound');
    case 'noisy':
      return trans.__('too noisy to judge');
    case 'unclear':
      return trans.__('not clear');
  }
}

/**
 * What that means, for who meets the words for the first time.
 */
export function boundMeaning(
  verdict: Pick<Verdict, 'bound' | 'limited_by'>,
  trans: TranslationBundle
): string {
  switch (verdict.limited_by || verdict.bound) {
    case 'launch':
      return trans.__('Most time is spent on the host, starting kernels');
    case 'overhead':
    case 'cpu':
      return trans.__('Most time is spent on the host, around the kernels');
    case 'memory':
      return trans.__('Memory-bound: moving fewer bytes would be faster');
    case 'compute':
      return trans.__('Compute-bound: less arithmetic would be faster');
    case 'noisy':
      return trans.__('The figures contradict each other');
    case 'unclear':
      return trans.__('No single limit stands out');
  }
}
