import * as React from 'react';
import type { Decision } from '../../protocol/types';
import { DECISION_KINDS, ON_DEVICE_TITLE } from '../../protocol/types';

/**
 * What was decided by a rule because the device is not available: the decision,
 * the rule, and what decides on the device itself.
 *
 * @param props.aside - Shown next to each decision: its location.
 */
export function DecisionList(props: {
  decisions: readonly Decision[];
  aside?: (decision: Decision, index: number) => React.ReactNode;
}): JSX.Element {
  const { decisions, aside } = props;
  return (
    <ul className="jp-Compilescope-decisionList">
      {decisions.map((decision, index) => {
        const { operator, chosen, rule, instead, kind } = decision;
        return (
          <li key={index}>
            <p>
              <code>{operator}</code> <span aria-hidden="true">→</span>{' '}
              <strong>{chosen}</strong>{' '}
              <span className="jp-Compilescope-muted">
                {DECISION_KINDS[kind]}
              </span>
            </p>
            {aside?.(decision, index)}
            <p>{rule}</p>
            {instead && (
              <p className="jp-Compilescope-muted">
                {ON_DEVICE_TITLE}: {instead}
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}
