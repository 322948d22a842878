import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Entry } from '../../protocol/types';
import { Absent, Bar } from '../common';
import { formatMicroseconds } from '../../words/format';
import { formatInterval, formatRatio } from '../../words/format';
import { Wide } from '../common/study';

/**
 * The ways to call what was compiled, timed in turns.
 */
export function Entries(props: {
  entries: readonly Entry[];
  trans: TranslationBundle;
}): JSX.Element {
  const { entries, trans } = props;
  const longest = Math.max(
    ...entries.map(({ timing }) => timing?.median_us ?? 0)
  );
  return (
    <>
      <Wide label={trans.__('Entries in figures')}>
        <table className="jp-Compilescope-figures">
          <caption className="jp-Compilescope-hidden">
            {trans.__('Latency by entry point')}
          </caption>
          <thead>
            <tr>
              <th scope="col">{trans.__('Entry point')}</th>
              <th scope="col" className="jp-mod-number">
                {trans.__('median')}
              </th>
              <td />
              <th scope="col" className="jp-mod-number">
                {trans.__('95 % interval')}
              </th>
              <th scope="col" className="jp-mod-number">
                {trans.__('× eager')}
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.map(({ name, timing, why }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {timing ? (
                  <>
                    <td className="jp-mod-number">
                      <strong>{formatMicroseconds(timing.median_us)}</strong>
                    </td>
                    <td>
                      <Bar
                        share={longest > 0 ? timing.median_us / longest : 0}
                      />
                    </td>
                    <td className="jp-mod-number">
                      {formatInterval(timing.interval_us)}
                      {timing.few && <small> {trans.__('(min–max)')}</small>}
                    </td>
                    <td className="jp-mod-number">
                      {timing.ratio === null ? '' : formatRatio(timing.ratio)}
                    </td>
                  </>
                ) : (
                  <td colSpan={4}>
                    <Absent why={why || trans.__('Not measured')} /> {why}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <p className="jp-Compilescope-hint">
        {trans.__(
          'Timed in turns, without gradients, in a new process. The standalone entry checks no guards; C++ calls only the loader.'
        )}
      </p>
    </>
  );
}
