import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { RankDifference } from '../../protocol/types';
import { Badge } from '../common';

/**
 * The differences of another rank, in the order of the report: those that may
 * hang first.
 */
export function Differences(props: {
  rank: number;
  differences: readonly RankDifference[];
  trans: TranslationBundle;
}): JSX.Element {
  const { rank, differences, trans } = props;
  return (
    <ul className="jp-Compilescope-rankDifferences">
      {differences.map((rankDifference, index) => (
        <li
          key={index}
          className={rankDifference.serious ? 'jp-mod-serious' : undefined}
        >
          <header>
            <strong>{rankDifference.what}</strong>
            {rankDifference.serious && (
              <Badge kind="warning">
                {trans.__('may hang or corrupt data')}
              </Badge>
            )}
          </header>
          <dl>
            <dt>{trans.__('rank %1', rank)}</dt>
            <dd>
              <code>{rankDifference.here || trans.__('none')}</code>
            </dd>
            <dt>{trans.__('rank %1', rankDifference.other)}</dt>
            <dd>
              <code>{rankDifference.there || trans.__('none')}</code>
            </dd>
          </dl>
          {rankDifference.why && <p>{rankDifference.why}</p>}
        </li>
      ))}
    </ul>
  );
}
