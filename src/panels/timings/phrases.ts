import type { TranslationBundle } from '@jupyterlab/translation';
import type { ITimed } from './rows';

/**
 * An interval of a ratio: `1.35–1.41×`. A bound close to 1 has enough digits to
 * show on which side it is.
 */
export function formatRatioInterval(
  interval: readonly [number, number]
): string {
  const isNear = interval.some(limit => Math.abs(limit - 1) < 0.01);
  const [low, high] = interval.map(limit =>
    limit.toFixed(isNear ? 3 : limit < 10 ? 2 : 0)
  );
  return low === high ? `${high}×` : `${low}–${high}×`;
}

/**
 * How the subject's state was prevented from affecting its times; empty if
 * unknown.
 */
export function initialStateText(
  { timing }: ITimed,
  trans: TranslationBundle
): string {
  if (!timing) {
    return '';
  }
  const { initial_state: initialState, changes } = timing;
  const what = changes.join(', ');
  switch (initialState) {
    case 'unchanged':
      return trans.__('the call has no side effects');
    case 'restored':
      return what
        ? trans.__('state restored before every sample: %1', what)
        : trans.__('state restored before every sample');
    case 'copied':
      return what
        ? trans.__('every sample on its own copies: %1', what)
        : trans.__('every sample on its own copies');
  }
}
