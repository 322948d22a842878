import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { RankDifference } from '../../protocol/types';
import { Badge } from '../common';

/**
 * What another rank has otherwise: what may hang first.
 */
export function Differences(props: {
  rank: number;
  differences: readonly RankDifference[];
  trans: TranslationBundle;
}): JSX.Element {
  const { rank, differences, trans } = props;
  if (differences.length === 0) {
    return (
      <p className="jp-Compilescope-ranksGood">
        {trans.__('None: all ranks compiled the same code.')}
      </p>
    );
  }
  const serious = differences.filter(each => each.serious);
  const others = differences.filter(each => !each.serious);
  return (
    <ul className="jp-Compilescope-rankDifferences">
      {[...serious, ...others].map((each, index) => (
        <li key={index} className={each.serious ? 'jp-mod-serious' : undefined}>
          <header>
            <strong>{each.what}</strong>
            {each.serious && (
              <Badge kind="warning">
                {trans.__('may hang or corrupt data')}
              </Badge>
            )}
          </header>
          <dl>
            <dt>{trans.__('rank %1', rank)}</dt>
            <dd>
              <code>{each.here || trans.__('none')}</code>
            </dd>
            <dt>{trans.__('rank %1', each.other)}</dt>
            <dd>
              <code>{each.there || trans.__('none')}</code>
            </dd>
          </dl>
          {each.why && <p>{each.why}</p>}
        </li>
      ))}
    </ul>
  );
}
