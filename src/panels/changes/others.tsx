import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Change, Changes } from '../../protocol/types';

const KINDS: readonly Change['kind'][] = [
  'setting',
  'compilations',
  'graphs',
  'graph',
  'wrapper',
  'guards',
  'breaks'
];

/**
 * The differences other than kernels, by kind: settings first, since they cause
 * the rest.
 */
export function OtherChanges(props: {
  variant: string;
  changes: Changes;
  trans: TranslationBundle;
}): JSX.Element {
  const { variant, changes, trans } = props;
  const label: Record<Change['kind'], string> = {
    setting: trans.__('setting'),
    compilations: trans.__('compilations'),
    graphs: trans.__('stages'),
    graph: trans.__('graph'),
    wrapper: trans.__('wrapper'),
    guards: trans.__('guards'),
    breaks: trans.__('graph breaks')
  };
  const rows = KINDS.flatMap(kind =>
    changes.changes.filter(change => change.kind === kind)
  );
  if (rows.length === 0) {
    return (
      <p className="jp-Compilescope-hint">{trans.__('Nothing differs.')}</p>
    );
  }
  return (
    <dl className="jp-Compilescope-changesOther">
      {rows.map((row, index) => (
        <div key={index}>
          <dt>
            <span className="jp-Compilescope-muted">{label[row.kind]}</span>{' '}
            <code>{row.what}</code>
          </dt>
          <dd>
            <Side name={changes.baseline} text={row.baseline} trans={trans} />
            <Side name={variant} text={row.here} trans={trans} />
            {row.why && <p>{row.why}</p>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Side(props: {
  name: string;
  text: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { name, text, trans } = props;
  return (
    <p>
      <span className="jp-Compilescope-muted">{name}</span>{' '}
      <span>{text || trans.__('none')}</span>
    </p>
  );
}
