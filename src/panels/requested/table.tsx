import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Effective, VariantReport } from '../../protocol/types';
import { AbsentValue } from '../common';
import type { ISetting } from './settings';
import { VariantTable } from './variants';

/**
 * All settings of all variants: what was requested, and the result.
 */
export function SettingsTable(props: {
  settings: readonly ISetting[];
  variants: readonly VariantReport[];
  trans: TranslationBundle;
}): JSX.Element {
  const { settings, variants, trans } = props;
  return (
    <VariantTable
      head={trans.__('Setting')}
      label={trans.__('All settings, side by side')}
      variants={variants}
      rows={settings.map(({ setting, cells, differs }) => ({
        head: setting,
        differs,
        cells: cells.map((effective, column) => (
          <Cell key={column} effective={effective} trans={trans} />
        ))
      }))}
    />
  );
}

function Cell(props: {
  effective: Effective | null;
  trans: TranslationBundle;
}): JSX.Element {
  const { effective, trans } = props;
  if (!effective) {
    return <AbsentValue why={trans.__('Unknown for this variant')} />;
  }
  const { requested, actual, differs, why } = effective;
  if (!differs) {
    return (
      <span title={why || undefined}>
        {requested && actual && requested !== actual && (
          <span className="jp-Compilescope-muted">{requested} → </span>
        )}
        {actual || requested || '–'}
        {why && <small>{why}</small>}
      </span>
    );
  }
  return (
    <span className="jp-Compilescope-differs" title={why || undefined}>
      <span className="jp-Compilescope-hidden">
        {trans.__('not as requested:')}{' '}
      </span>
      <del>{requested || '–'}</del> <strong>{actual || '–'}</strong>
    </span>
  );
}
