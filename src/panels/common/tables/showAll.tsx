import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

/**
 * The button below a list that shows only its first rows; nothing if all are
 * shown.
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

/**
 * The first items of a list, or all of them once the button is pressed.
 *
 * @returns The items to show, and the button.
 */
export function useShowAll<T>(
  items: readonly T[],
  maxItems: number,
  trans: TranslationBundle
): [readonly T[], JSX.Element] {
  const [isAll, setAll] = React.useState(false);
  const shown = isAll ? items : items.slice(0, maxItems);
  return [
    shown,
    <ShowAll
      key="all"
      shown={shown.length}
      total={items.length}
      onClick={() => setAll(true)}
      trans={trans}
    />
  ];
}
