import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Check, Checkup } from '../../protocol/types';
import { Badge } from '../common';
import { checksBySubject, KINDS, stateText } from './words';

/**
 * The checks, by subject.
 */
export function CheckList(props: {
  checkup: Checkup;
  trans: TranslationBundle;
}): JSX.Element {
  const { checkup, trans } = props;
  return (
    <>
      <p className="jp-Compilescope-doctor-where">{checkup.environment}</p>
      {checksBySubject(checkup.checks).map(([subject, checks]) => (
        <section key={subject} aria-label={subject}>
          <h3>{subject}</h3>
          <ul>
            {checks.map(check => (
              <CheckRow key={check.name} check={check} trans={trans} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function CheckRow(props: {
  check: Check;
  trans: TranslationBundle;
}): JSX.Element {
  const { check, trans } = props;
  return (
    <li data-state={check.state}>
      <Badge kind={KINDS[check.state]}>{stateText(check.state, trans)}</Badge>
      <div>
        <strong>{check.name}</strong>: {check.finding}
        {check.remedy && (
          <div className="jp-Compilescope-doctor-remedy">{check.remedy}</div>
        )}
        {check.detail && (
          <details>
            <summary>{trans.__('Details')}</summary>
            <pre>{check.detail}</pre>
          </details>
        )}
      </div>
    </li>
  );
}
