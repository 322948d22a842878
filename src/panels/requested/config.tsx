import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import { configOf } from './settings';
import { VariantTable } from './variants';

/**
 * torch's configuration where it differs from the defaults.
 */
export function Config(props: {
  variants: readonly VariantReport[];
  trans: TranslationBundle;
}): JSX.Element {
  const { variants, trans } = props;
  const rows = React.useMemo(() => configOf(variants), [variants]);
  const title = trans.__('Configuration that differs from torch’s defaults');
  return (
    <section>
      <h3>{title}</h3>
      {rows.length === 0 ? (
        <p className="jp-Compilescope-hint">
          {trans.__('None: torch’s configuration has its defaults.')}
        </p>
      ) : (
        <VariantTable
          head={trans.__('torch setting')}
          label={title}
          variants={variants}
          rows={rows.map(({ name, values }) => ({
            head: <code>{name}</code>,
            cells: values.map((value, column) =>
              value === null ? (
                <span key={column} className="jp-Compilescope-muted">
                  {trans.__('default')}
                </span>
              ) : (
                <code key={column}>{value}</code>
              )
            )
          }))}
        />
      )}
    </section>
  );
}
