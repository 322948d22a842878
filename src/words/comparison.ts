import type { TranslationBundle } from '@jupyterlab/translation';
import type { Speedup } from '../protocol/types';

/**
 * How a variant compares with the baseline, in words.
 */
export function comparison(
  {
    isBaseline,
    speedup
  }: { readonly isBaseline: boolean; readonly speedup: Speedup | null },
  trans: TranslationBundle
): string {
  return isBaseline ? trans.__('baseline') : (speedup?.text ?? '');
}
