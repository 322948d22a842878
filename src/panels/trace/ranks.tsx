import * as React from 'react';
import type { RankComparison } from '../../protocol/types';
import { formatSeconds } from '../../words/format';
import { Badge } from '../common';
import type { IViewContext } from '../views';
import { CompilationLink } from './link';
import { TableHead } from '../common/tables/figures';

/**
 * The ranks of a run compared: the first to diverge, and the compile time of
 * each.
 */
export function RankComparisonPart(props: {
  ranks: RankComparison;
  context: IViewContext;
}): JSX.Element {
  const { ranks, context } = props;
  const { trans } = context;
  return (
    <section>
      <h3>{trans.__('Ranks compared')}</h3>
      <p>{ranks.sentence}</p>
      <ul className="jp-Compilescope-rankDifferences">
        {ranks.divergences.map((divergence, index) => (
          <li
            key={index}
            className={divergence.serious ? 'jp-mod-serious' : undefined}
          >
            <header>
              <strong>{divergence.what}</strong>
              {divergence.serious && (
                <Badge kind="warning">
                  {trans.__('may hang or corrupt data')}
                </Badge>
              )}
              <CompilationLink
                process={`rank ${divergence.ranks[0]}`}
                id={divergence.compilation}
                context={context}
              />
            </header>
            <dl>
              <dt>{trans.__('rank %1', divergence.ranks.join(', '))}</dt>
              <dd>
                <code>{divergence.here}</code>
              </dd>
              <dt>{trans.__('the others')}</dt>
              <dd>
                <code>{divergence.there}</code>
              </dd>
            </dl>
            {divergence.why && <p>{divergence.why}</p>}
          </li>
        ))}
      </ul>
      <table aria-label={trans.__('Compile time of each rank')}>
        <TableHead
          heads={[
            trans.__('Rank'),
            trans.__('Compile time'),
            trans.__('Slowest')
          ]}
        />
        <tbody>
          {ranks.times.map(({ rank, compile_time_s, slowest }) => (
            <tr key={rank}>
              <th scope="row">{rank}</th>
              <td>{formatSeconds(compile_time_s)}</td>
              <td>
                <CompilationLink
                  process={`rank ${rank}`}
                  id={slowest}
                  context={context}
                  view="compile-time"
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
