import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Constant } from '../../protocol/types';
import { AbsentValue, useShowAll } from '../common';
import { formatBytes, formatCount } from '../../words/format';
import { Figures } from '../common/tables/figures';

/** The maximum number of constants that are listed. */
const CONSTANTS = 20;

/**
 * The tensors in a package.
 */
export function Constants(props: {
  constants: readonly Constant[];
  trans: TranslationBundle;
}): JSX.Element {
  const { constants, trans } = props;
  const [shown, showAll] = useShowAll(constants, CONSTANTS, trans);
  const bytes = constants.reduce(
    (sum, constant) => sum + (constant.bytes ?? 0),
    0
  );
  const isFolded = constants.some(({ folded }) => folded);
  return (
    <>
      <p className="jp-Compilescope-muted">
        {trans._n(
          '%2 tensor',
          '%2 tensors',
          constants.length,
          formatCount(constants.length)
        )}
        , {formatBytes(bytes)}
      </p>
      <Figures
        label={trans.__('Constants as a table')}
        caption={trans.__('The tensors that the package contains')}
        heads={[
          trans.__('In the model'),
          trans.__('in the code'),
          trans.__('dtype'),
          trans.__('shape'),
          { label: trans.__('size'), isNumber: true },
          isFolded && {
            label: trans.__('folded'),
            title: trans.__('Computed from others when the package loads')
          }
        ]}
      >
        {shown.map(constant => (
          <tr key={constant.name}>
            <th scope="row">
              <code>{constant.original || constant.name}</code>
            </th>
            <td>
              <code>{constant.name}</code>
            </td>
            <td>{constant.dtype}</td>
            <td>{constant.shape.join(' × ') || trans.__('a scalar')}</td>
            <td className="jp-mod-number">
              {constant.bytes === null ? (
                <AbsentValue why={trans.__('Not stated in the code.')} />
              ) : (
                formatBytes(constant.bytes)
              )}
            </td>
            {isFolded && <td>{constant.folded ? trans.__('yes') : ''}</td>}
          </tr>
        ))}
      </Figures>
      {showAll}
    </>
  );
}
