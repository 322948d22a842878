import * as React from 'react';
import type { Rank } from '../../protocol/types';
import type { IViewContext } from '../views';
import { CollectiveTable } from './collectives';
import { Differences } from './differences';

/**
 * The rank of the report: the other ranks of its run, its differences from
 * them, and its collectives.
 */
export function RanksBody(props: {
  rank: Rank;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { rank, context, origin } = props;
  const { model, trans } = context;
  const run = model.subjects
    .filter(subject => subject.group !== '' && subject.group === rank.group)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  const variants = [
    ...new Set(rank.collectives.map(collective => collective.variant))
  ];
  return (
    <div className="jp-Compilescope-body">
      <section>
        <h3>
          {
            // A file of an earlier version has no words.
            rank.title || trans.__('Rank %1 of %2', rank.rank, rank.size)
          }
        </h3>
        {run.length > 1 && (
          <div
            className="jp-Compilescope-ranksRun"
            role="group"
            aria-label={trans.__('The ranks of this run')}
          >
            {run.map(subject => (
              <button
                key={subject.subject.id}
                type="button"
                className="jp-Compilescope-link"
                aria-pressed={subject.subject.id === model.subject}
                onClick={() => {
                  model.subject = subject.subject.id;
                }}
              >
                {trans.__('rank %1', subject.rank ?? 0)}
              </button>
            ))}
          </div>
        )}
      </section>
      <section>
        <h3>{trans.__('Differences between the ranks')}</h3>
        {rank.outcome && <p className="jp-Compilescope-hint">{rank.outcome}</p>}
        {rank.differences.length > 0 && (
          <Differences
            rank={rank.rank}
            differences={rank.differences}
            trans={trans}
          />
        )}
      </section>
      <section>
        <h3>{trans.__('Collectives, in the order of their calls')}</h3>
        {variants.length === 0 && (
          <p className="jp-Compilescope-hint">
            {trans.__(
              'The compiled code calls none. Those that DistributedDataParallel calls itself are known once a variant is built.'
            )}
          </p>
        )}
        {variants.map(variant => (
          <React.Fragment key={variant}>
            <h4>{variant}</h4>
            <CollectiveTable
              variant={variant}
              collectives={rank.collectives.filter(
                collective => collective.variant === variant
              )}
              context={context}
              origin={origin}
            />
          </React.Fragment>
        ))}
      </section>
    </div>
  );
}
