import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Constant } from '../../protocol/types';
import { Absent } from '../common';
import { formatBytes } from '../../words/format';
import { Wide } from '../common/study';

/** So many constants are listed at once. */
const CONSTANTS = 20;

/**
 * The tensors that a package carries.
 */
export function Constants(props: {
  constants: readonly Constant[];
  trans: TranslationBundle;
}): JSX.Element {
  const { constants, trans } = props;
  const [isWhole, setWhole] = React.useState(false);
  const shown = isWhole ? constants : constants.slice(0, CONSTANTS);
  const bytes = constants.reduce((sum, each) => sum + (each.bytes ?? 0), 0);
  return (
    <>
      <p className="jp-Compilescope-muted">
        {trans._n('%1 tensor', '%1 tensors', constants.length)},{' '}
        {formatBytes(bytes)}
      </p>
      <Wide label={trans.__('Constants in figures')}>
        <table className="jp-Compilescope-figures">
          <caption className="jp-Compilescope-hidden">
            {trans.__('The tensors that the package carries')}
          </caption>
          <thead>
            <tr>
              <th scope="col">{trans.__('In the model')}</th>
              <th scope="col">{trans.__('in the code')}</th>
              <th scope="col">{trans.__('dtype')}</th>
              <th scope="col">{trans.__('shape')}</th>
              <th scope="col" className="jp-mod-number">
                {trans.__('size')}
              </th>
              <th
                scope="col"
                title={trans.__('Computed from others when the package loads')}
              >
                {trans.__('folded')}
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(each => (
              <tr key={each.name}>
                <th scope="row">
                  <code>{each.original || each.name}</code>
                </th>
                <td>
                  <code>{each.name}</code>
                </td>
                <td>{each.dtype}</td>
                <td>{each.shape.join(' × ') || trans.__('a scalar')}</td>
                <td className="jp-mod-number">
                  {each.bytes === null ? (
                    <Absent why={trans.__('Not stated in the code.')} />
                  ) : (
                    formatBytes(each.bytes)
                  )}
                </td>
                <td>{each.folded ? trans.__('yes') : ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {shown.length < constants.length && (
        <button
          type="button"
          className="jp-Compilescope-button"
          onClick={() => setWhole(true)}
        >
          {trans.__('Show all %1', constants.length)}
        </button>
      )}
    </>
  );
}
