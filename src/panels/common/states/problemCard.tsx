import { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { Problem, SourceLine } from '../../../protocol/types';
import { formatPlace } from '../../../words/format';
import { Prose } from '../prose';

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
        {why && (
          <p>
            <Prose text={why} />
          </p>
        )}
        {remedy && (
          <p className="jp-Compilescope-remedy">
            <Prose text={remedy} />
          </p>
        )}
        {where && (
          <p>
            <button
              type="button"
              className="jp-Compilescope-link jp-mod-code"
              title={trans.__('Go to %1', `${where.file}:${where.line}`)}
              disabled={!onGoTo}
              onClick={() => onGoTo?.(where)}
            >
              {formatPlace(where, props.files ?? {}, trans)}
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
