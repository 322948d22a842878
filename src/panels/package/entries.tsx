import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Entry } from '../../protocol/types';
import { AbsentValue, Bar } from '../common';
import { formatMicroseconds, formatRatio } from '../../words/format';
import { DeclaredCells, declaredHeads } from '../common/tables/declared';
import { Figures } from '../common/tables/figures';

/**
 * The ways to call the compiled code, timed interleaved.
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
      <Figures
        label={trans.__('Entries as a table')}
        caption={trans.__('Latency by entry point')}
        heads={declaredHeads('entries', trans)}
      >
        {entries.map(({ name, timing, why }) => (
          <tr key={name}>
            {timing ? (
              <DeclaredCells
                table="entries"
                trans={trans}
                cells={{
                  entry: <th scope="row">{name}</th>,
                  median: (
                    <td className="jp-mod-number">
                      <strong>{formatMicroseconds(timing.median_us)}</strong>
                    </td>
                  ),
                  bar: (
                    <td>
                      <Bar
                        share={longest > 0 ? timing.median_us / longest : 0}
                      />
                    </td>
                  ),
                  interval: (
                    <td className="jp-mod-number">{timing.interval}</td>
                  ),
                  speedup: (
                    <td className="jp-mod-number">
                      {timing.speedup?.text ??
                        (timing.ratio === null
                          ? ''
                          : formatRatio(timing.ratio))}
                    </td>
                  )
                }}
              />
            ) : (
              <>
                <th scope="row">{name}</th>
                <td colSpan={4}>
                  <AbsentValue why={why || trans.__('Not measured')} /> {why}
                </td>
              </>
            )}
          </tr>
        ))}
      </Figures>
      <p className="jp-Compilescope-hint">
        {trans.__(
          'Timed interleaved, without gradients, in a new process. The standalone entry checks no guards; C++ calls only the loader.'
        )}
      </p>
    </>
  );
}
