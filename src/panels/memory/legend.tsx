import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { kindTitle } from './columns';
import type { IRow } from './rows';

/**
 * The colors of the drawn buffers: one for outputs, one for the memory that a
 * call itself needs.
 */
export function Legend(props: {
  rows: readonly IRow[];
  trans: TranslationBundle;
}): JSX.Element {
  const { rows, trans } = props;
  const kinds = new Set(rows.map(({ buffer }) => buffer.kind));
  const internal = [...kinds].filter(
    kind => kind !== 'input' && kind !== 'output'
  );
  return (
    <p className="jp-Compilescope-hint jp-Compilescope-memoryLegend">
      {internal.length > 0 && (
        <span>
          <span className="jp-Compilescope-memorySwatch" aria-hidden="true" />
          {internal.map(kind => kindTitle(kind, trans)).join(', ')}
        </span>
      )}
      {kinds.has('output') && (
        <span>
          <span
            className="jp-Compilescope-memorySwatch jp-mod-output"
            aria-hidden="true"
          />
          {kindTitle('output', trans)}
        </span>
      )}
      {rows.some(({ buffer }) => buffer.reuses) && (
        <span>
          {trans.__(
            'Where the shade changes, a buffer reuses the memory of another.'
          )}
        </span>
      )}
    </p>
  );
}
