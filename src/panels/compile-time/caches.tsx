import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { CacheEvent, Compilation } from '../../protocol/types';
import type { BadgeKind } from '../common';
import { Badge } from '../common';
import type { Run } from './timeline/lanes';
import { runTitle } from './phrases';
import { TableHead } from '../common/tables/figures';

const LOOKS: Record<CacheEvent['outcome'], BadgeKind> = {
  hit: 'good',
  miss: 'plain',
  bypass: 'warning'
};

/**
 * The answers of torch's caches for each compilation, cold and warm.
 */
export function Caches(props: {
  compilations: readonly Compilation[];
  runs: readonly Run[];
  trans: TranslationBundle;
}): JSX.Element {
  const { compilations, runs, trans } = props;
  const rows = compilations.flatMap(({ id, cache, warm_cache }) =>
    runs.flatMap(run =>
      (run === 'warm' ? warm_cache : cache).map(event => ({ id, run, event }))
    )
  );
  if (rows.length === 0) {
    return (
      <p className="jp-Compilescope-hint">
        {trans.__('torch logged no cache lookups.')}
      </p>
    );
  }
  return (
    <div className="jp-Compilescope-timeWide">
      <table className="jp-Compilescope-timeCaches">
        <caption className="jp-Compilescope-hidden">
          {trans.__('Lookups in torch’s compile caches')}
        </caption>
        <TableHead
          heads={[
            trans.__('Cache'),
            trans.__('Outcome'),
            trans.__('Compilation'),
            trans.__('Key')
          ]}
        />
        <tbody>
          {rows.map(({ id, run, event }, index) => (
            <tr key={index}>
              <th scope="row">{event.cache}</th>
              <td>
                <Badge kind={LOOKS[event.outcome]}>
                  {outcomeTitle(event.outcome, trans)}
                </Badge>
                {/* The badge already says "hit"; torch's text would repeat it. */}
                {event.detail && event.detail !== event.outcome && (
                  <span className="jp-Compilescope-muted" title={event.detail}>
                    {event.detail}
                  </span>
                )}
              </td>
              <td>
                {id} {runTitle(run, trans)}
              </td>
              <td>
                <code title={event.key}>{event.key}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function outcomeTitle(
  outcome: CacheEvent['outcome'],
  trans: TranslationBundle
): string {
  switch (outcome) {
    case 'hit':
      return trans.__('hit');
    case 'miss':
      return trans.__('miss');
    case 'bypass':
      return trans.__('bypassed');
  }
}
