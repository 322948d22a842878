import * as React from 'react';
import type { Count, ListedProblem } from '../../protocol/types';
import { ProblemCard } from '../common/states/problemCard';
import { joined } from '../common/viewLink';
import type { ViewTarget } from '../views';
import { Section } from './section';
import type { IPartProps, ISidebarState } from './types';

/**
 * The latest failure, then all problems of the report, errors first; then what
 * costs time or is not as requested.
 */
export function problemsOf({ report, job, problem }: ISidebarState): {
  readonly entries: readonly ListedProblem[];
  readonly counts: readonly Count[];
  readonly number: number;
} {
  const listed = report?.listed_problems ?? [];
  const entries: ListedProblem[] = [
    ...(problem ? [{ problem, variants: [] }] : []),
    ...(job?.error && job.error.what !== problem?.what
      ? [{ problem: job.error, variants: [job.variant] }]
      : [])
  ].filter(
    // The variant of a failed job may have the error as well.
    ({ problem: { what, why } }) =>
      !listed.some(
        ({ problem }) => problem.what === what && problem.why === why
      )
  );
  entries.push(...listed);
  const counts = (report?.overview?.counts ?? []).filter(
    count => count.warning
  );
  return { entries, counts, number: entries.length + counts.length };
}

/**
 * The problems, and what costs time, each with a link to the view with the
 * details.
 */
export function Problems({ state, actions, trans }: IPartProps): JSX.Element {
  const { report } = state;
  const { entries, counts, number } = problemsOf(state);
  return (
    <Section name="problems" title={trans.__('Problems')} count={number}>
      {number === 0 ? (
        <p className="jp-Compilescope-hint">
          {trans.__('No errors or warnings.')}
        </p>
      ) : (
        <ul className="jp-Compilescope-problems">
          {entries.map((entry, index) => (
            <li key={index}>
              <ProblemCard
                problem={entry.problem}
                variant={entry.variants.filter(Boolean).join(', ')}
                files={report?.files ?? {}}
                onGoTo={actions.goTo}
                trans={trans}
              />
            </li>
          ))}
          {counts.map(count => (
            <li key={count.view}>
              <Warning count={count} actions={actions} trans={trans} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/**
 * Events that cost time, or results that are not as requested.
 */
function Warning(
  props: Pick<IPartProps, 'actions' | 'trans'> & { count: Count }
): JSX.Element {
  const { count, actions, trans } = props;
  return (
    <div className="jp-Compilescope-problem jp-mod-warning">
      <span
        className="jp-Compilescope-severity"
        role="img"
        aria-label={trans.__('Warning')}
        title={trans.__('Warning')}
      />
      <button
        type="button"
        className="jp-Compilescope-link"
        onClick={() => actions.openView(count.view as ViewTarget, count.of)}
      >
        {joined(count.text)}
      </button>
    </div>
  );
}
