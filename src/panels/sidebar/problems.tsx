import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Problem, SourceLine } from '../../protocol/types';
import { formatPlace } from './format';
import { Section } from './section';
import type { IPartProps } from './types';

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
        <p className="jp-Compilescope-hint">{trans.__('None found.')}</p>
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

/**
 * One problem: what happened, why, what to do.
 */
export function ProblemCard(props: {
  problem: Problem;
  variant?: string;
  files?: Record<string, string>;
  onGoTo?: (where: SourceLine) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { problem, variant, onGoTo, trans } = props;
  const { severity, what, why, remedy, where, detail } = problem;
  const severities: Record<Problem['severity'], string> = {
    error: trans.__('Error'),
    warning: trans.__('Warning'),
    info: trans.__('Note')
  };
  return (
    <article className={`jp-Compilescope-problem jp-mod-${severity}`}>
      <span
        className="jp-Compilescope-severity"
        role="img"
        aria-label={severities[severity]}
        title={severities[severity]}
      />
      <div className="jp-Compilescope-problemText">
        <p className="jp-Compilescope-what">
          {what}
          {variant && <span className="jp-Compilescope-tag">{variant}</span>}
        </p>
        {why && <p>{why}</p>}
        {remedy && <p className="jp-Compilescope-remedy">{remedy}</p>}
        {where && (
          <p>
            <button
              type="button"
              className="jp-Compilescope-link jp-mod-code"
              title={trans.__('Go to %1', `${where.file}:${where.line}`)}
              disabled={!onGoTo}
              onClick={() => onGoTo?.(where)}
            >
              {formatPlace(where, props.files ?? {}, trans.__('cell'))}
            </button>
            {where.code && (
              <>
                {' '}
                <code>{where.code.trim()}</code>
              </>
            )}
          </p>
        )}
        {detail && (
          <details>
            <summary>{trans.__('Details')}</summary>
            <pre>{detail}</pre>
          </details>
        )}
      </div>
    </article>
  );
}
