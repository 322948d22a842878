import type { TranslationBundle } from '@jupyterlab/translation';
import type { Layers } from '../../protocol/types';
import type { ITimed } from './rows';

/**
 * How a variant compares to the baseline, in words.
 */
export function comparison(
  { isBaseline, speedup }: Pick<ITimed, 'isBaseline' | 'speedup'>,
  trans: TranslationBundle
): string {
  return isBaseline ? trans.__('baseline') : (speedup?.text ?? '');
}

/**
 * An interval of a ratio: `1.35–1.41×`. A bound that is nearly 1 has digits
 * enough to tell on which side it is.
 */
export function formatRatioInterval(
  interval: readonly [number, number]
): string {
  const isNear = interval.some(each => Math.abs(each - 1) < 0.01);
  const [low, high] = interval.map(each =>
    each.toFixed(isNear ? 3 : each < 10 ? 2 : 0)
  );
  return low === high ? `${high}×` : `${low}–${high}×`;
}

/**
 * How the subject's state was kept from changing its times; empty where that is
 * not known.
 */
export function keepingText(
  { timing }: ITimed,
  trans: TranslationBundle
): string {
  if (!timing) {
    return '';
  }
  const { keeping, changes } = timing;
  const what = changes.join(', ');
  switch (keeping) {
    case 'unchanged':
      return trans.__('a call changes nothing that lasts');
    case 'restored':
      return what
        ? trans.__('restored before every sample: %1', what)
        : trans.__('restored before every sample');
    case 'copied':
      return what
        ? trans.__('every sample on copies of its own: %1', what)
        : trans.__('every sample on copies of its own');
  }
}

/**
 * A variant's layers are of inference, or of one direction of training.
 */
export function directionTitle(
  direction: Layers['direction'],
  trans: TranslationBundle
): string {
  switch (direction) {
    case 'inference':
      return trans.__('inference');
    case 'forward':
      return trans.__('forward');
    case 'backward':
      return trans.__('backward');
    case 'step':
      return trans.__('forward and backward');
  }
}
