import * as React from 'react';
import type { Problem } from '../../protocol/types';
import { Section } from './section';
import type { IPartProps } from './types';
import { ProblemCard } from '../common/states/problemCard';

const RANK: Record<Problem['severity'], number> = {
  error: 0,
  warning: 1,
  info: 2
};

/**
 * A problem, and the variant that it is of.
 */
interface IEntry {
  problem: Problem;
  variant: string;
}

/**
 * All problems of the report, the grave ones first.
 */
export function Problems({ state, actions, trans }: IPartProps): JSX.Element {
  const { report, job, problem } = state;
  const entries: IEntry[] = [
    ...(problem ? [{ problem, variant: '' }] : []),
    ...(job?.error ? [{ problem: job.error, variant: job.variant }] : []),
    ...(report?.problems ?? []).map(each => ({ problem: each, variant: '' })),
    ...(report?.variants ?? []).flatMap(variant =>
      variant.problems.map(each => ({ problem: each, variant: variant.name }))
    )
  ].sort((a, b) => RANK[a.problem.severity] - RANK[b.problem.severity]);
  return (
    <Section
      name="problems"
      title={trans.__('Problems')}
      count={entries.length}
    >
      {entries.length === 0 ? (
        <p className="jp-Compilescope-hint">
          {trans.__('No errors or warnings.')}
        </p>
      ) : (
        <ul className="jp-Compilescope-problems">
          {entries.map((entry, index) => (
            <li key={index}>
              <ProblemCard
                problem={entry.problem}
                variant={entry.variant}
                files={report?.files ?? {}}
                onGoTo={actions.goTo}
                trans={trans}
              />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
