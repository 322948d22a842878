import * as React from 'react';
import type { Count, Problem } from '../../protocol/types';
import { ProblemCard } from '../common/states/problemCard';
import { joined } from '../common/viewLink';
import type { ViewTarget } from '../views';
import { Section } from './section';
import type { IPartProps } from './types';

const RANK: Record<Problem['severity'], number> = {
  error: 0,
  warning: 1,
  info: 2
};

/**
 * A problem, and the variants that it is of, by name.
 */
interface IEntry {
  problem: Problem;
  variant: string;
}

/**
 * What several variants have alike is said once.
 */
function merged(entries: readonly IEntry[]): IEntry[] {
  const byKey = new Map<string, IEntry>();
  for (const { problem, variant } of entries) {
    const { severity, what, why, remedy, where } = problem;
    const key = JSON.stringify([severity, what, why, remedy, where]);
    const names = [byKey.get(key)?.variant, variant].filter(Boolean);
    byKey.set(key, { problem, variant: names.join(', ') });
  }
  return [...byKey.values()];
}

/**
 * All problems of the report, the grave ones first; then what costs time or is not as
 * requested, each a link to the view that shows it whole.
 */
export function Problems({ state, actions, trans }: IPartProps): JSX.Element {
  const { report, job, problem } = state;
  const entries = merged([
    ...(problem ? [{ problem, variant: '' }] : []),
    ...(job?.error ? [{ problem: job.error, variant: job.variant }] : []),
    ...(report?.problems ?? []).map(entry => ({ problem: entry, variant: '' })),
    ...(report?.variants ?? []).flatMap(variant =>
      variant.problems.map(entry => ({ problem: entry, variant: variant.name }))
    )
  ]).sort((a, b) => RANK[a.problem.severity] - RANK[b.problem.severity]);
  const counts = (report?.overview?.counts ?? []).filter(
    count => count.warning
  );
  const number = entries.length + counts.length;
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
                variant={entry.variant}
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
 * What happened that costs time, or is not as requested.
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
