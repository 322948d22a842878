import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { CONDITIONS_TITLE, CONDITION_FAILED } from '../../protocol/types';
import { Badge } from '../common';
import type { IConditionRow } from './conditionRows';

/**
 * The number of conditions shown initially.
 */
const INITIAL_CONDITIONS = 8;

/**
 * What would cause a recompile, shown before the individual guards.
 */
export function Conditions(props: {
  conditions: readonly IConditionRow[];
  chosen: number | null;
  onChoose: (guard: number) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { conditions, chosen, onChoose, trans } = props;
  const [isWhole, setWhole] = React.useState(false);
  const heading = React.useId();
  const groups = conditions.filter(condition => condition.guard === null);
  const single = conditions.filter(condition => condition.guard !== null);
  // Of many compilations there may be many groups, too.
  const groupsLeft = groups.length > INITIAL_CONDITIONS ? groups : [];
  const all = [...single, ...groupsLeft];
  const left = all.length - INITIAL_CONDITIONS;
  const shown = isWhole || left <= 1 ? all : all.slice(0, INITIAL_CONDITIONS);
  return (
    <section className="jp-Compilescope-guardAnswer" aria-labelledby={heading}>
      <h3 id={heading}>{CONDITIONS_TITLE}</h3>
      <dl>
        {[...shown, ...(groupsLeft.length > 0 ? [] : groups)].map(condition => (
          <React.Fragment
            key={
              condition.guard ?? `${condition.name} ${condition.requirement}`
            }
          >
            <dt>
              {condition.guard === null ? (
                condition.name
              ) : (
                <button
                  type="button"
                  className="jp-Compilescope-link jp-mod-code"
                  aria-pressed={condition.guard === chosen}
                  title={trans.__('Show this guard')}
                  onClick={() => onChoose(condition.guard!)}
                >
                  {condition.name}
                </button>
              )}
              {condition.compilations.length > 0 && (
                <span className="jp-Compilescope-muted">
                  {' '}
                  {condition.compilations.join(', ')}
                </span>
              )}
            </dt>
            <dd
              className={condition.guard === null ? 'jp-mod-group' : undefined}
            >
              {condition.guard === null ? (
                condition.requirement
              ) : (
                <code>{condition.requirement}</code>
              )}
              {condition.failed && (
                <Badge kind="error">{CONDITION_FAILED}</Badge>
              )}
            </dd>
          </React.Fragment>
        ))}
      </dl>
      {shown.length < all.length && (
        <button
          type="button"
          className="jp-Compilescope-link"
          onClick={() => setWhole(true)}
        >
          {trans.__('Show %1 more', left)}
        </button>
      )}
    </section>
  );
}
