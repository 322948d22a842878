import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

/**
 * The button below a list that shows only its first rows; nothing where it shows
 * all.
 */
export function ShowAll(props: {
  shown: number;
  total: number;
  onClick: () => void;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { shown, total, onClick, trans } = props;
  return shown < total ? (
    <button type="button" className="jp-Compilescope-button" onClick={onClick}>
      {trans.__('Show all %1', total)}
    </button>
  ) : null;
}
