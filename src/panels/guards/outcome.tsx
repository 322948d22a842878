import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { GuardOutcome, WhatIfResult } from '../../protocol/types';
import type { BadgeKind } from '../common';
import { Badge } from '../common';
import { TableHead } from '../common/tables/figures';

/**
 * Verdict → the color of its badge.
 */
const KINDS: Record<WhatIfResult['verdict'], BadgeKind> = {
  reuse: 'good',
  recompile: 'warning',
  limit: 'error',
  eager: 'warning',
  error: 'error',
  unknown: 'info'
};

/**
 * A verdict in a few words.
 */
export function VerdictBadge(props: { result: WhatIfResult }): JSX.Element {
  const { verdict, title } = props.result;
  return <Badge kind={KINDS[verdict]}>{title}</Badge>;
}

/**
 * What would happen at a call: the verdict, and the result of each
 * compilation's guards.
 */
export function Outcome(props: {
  result: WhatIfResult;
  onGoTo: (outcome: GuardOutcome) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { result, onGoTo, trans } = props;
  return (
    <div className="jp-Compilescope-outcome">
      <p>
        <VerdictBadge result={result} /> <span>{result.text}</span>
      </p>
      {result.why && <p className="jp-Compilescope-muted">{result.why}</p>}
      {result.arguments.length > 0 && (
        <p className="jp-Compilescope-muted">
          {trans.__('Called with')}{' '}
          {result.arguments.map((argument, index) => (
            <React.Fragment key={index}>
              {index > 0 && ', '}
              <code>{argument}</code>
            </React.Fragment>
          ))}
        </p>
      )}
      {result.outcomes.length > 0 && (
        <div className="jp-Compilescope-scroll">
          <table
            className="jp-Compilescope-outcomes"
            aria-label={trans.__('Result of the guards of each compilation')}
          >
            <TableHead
              heads={[
                trans.__('Compilation'),
                trans.__('First guard that fails'),
                trans.__('Expected'),
                trans.__('Actual')
              ]}
            />
            <tbody>
              {result.outcomes.map(outcome => (
                <Row
                  key={outcome.compilation}
                  outcome={outcome}
                  onGoTo={onGoTo}
                  trans={trans}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function Row(props: {
  outcome: GuardOutcome;
  onGoTo: (outcome: GuardOutcome) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { outcome, onGoTo, trans } = props;
  const { compilation, passes, guard, expected, actual, message } = outcome;
  const text = guard?.expression ?? message;
  const canGo = outcome.place !== null || guard !== null;
  return (
    <tr>
      <th scope="row">{compilation}</th>
      {passes ? (
        <td colSpan={3}>
          <Badge kind="good">{trans.__('All pass')}</Badge>
        </td>
      ) : (
        <>
          <td>
            {canGo ? (
              <button
                type="button"
                className="jp-Compilescope-link jp-mod-code"
                title={message || text}
                aria-label={trans.__('Show the guard %1', text)}
                onClick={() => onGoTo(outcome)}
              >
                {text}
              </button>
            ) : (
              <code title={message}>{text}</code>
            )}
          </td>
          <td className="jp-mod-old">
            <code>{expected}</code>
          </td>
          <td className="jp-mod-new">
            <code>{actual}</code>
          </td>
        </>
      )}
    </tr>
  );
}
