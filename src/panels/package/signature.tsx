import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Package } from '../../protocol/types';
import { ScrollableTable } from '../common/study';

/**
 * The inputs and outputs, and which sizes may change.
 */
export function Signature(props: {
  contents: Package;
  trans: TranslationBundle;
}): JSX.Element {
  const { inputs, outputs, dynamic } = props.contents;
  const { trans } = props;
  const rows: [string, readonly string[]][] = [
    [trans.__('inputs'), inputs],
    [trans.__('outputs'), outputs],
    [
      trans.__('sizes'),
      dynamic.length > 0 ? dynamic : [trans.__('all static at export')]
    ]
  ];
  return (
    <dl className="jp-Compilescope-packageFacts">
      {rows.map(([title, values]) => (
        <React.Fragment key={title}>
          <dt>{title}</dt>
          <dd>
            {values.map((value, index) => (
              <code key={index}>{value}</code>
            ))}
          </dd>
        </React.Fragment>
      ))}
    </dl>
  );
}

/**
 * The package's metadata.
 */
export function Metadata(props: {
  metadata: Readonly<Record<string, string>>;
  trans: TranslationBundle;
}): JSX.Element {
  const { metadata, trans } = props;
  return (
    <ScrollableTable label={trans.__('Metadata in words')}>
      <table className="jp-Compilescope-figures">
        <caption className="jp-Compilescope-hidden">
          {trans.__('Metadata of the package')}
        </caption>
        <tbody>
          {Object.entries(metadata).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{value || '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}
