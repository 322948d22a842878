import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Condition } from '../../protocol/types';
import { CONDITIONS_TITLE } from '../../protocol/types';
import { Badge } from '../common';

/**
 * So many are shown at first.
 */
const FEW = 8;

/**
 * What would make the call recompile, before the guards one by one.
 */
export function Answer(props: {
  conditions: readonly Condition[];
  chosen: number | null;
  onChoose: (guard: number) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { conditions, chosen, onChoose, trans } = props;
  const [isWhole, setWhole] = React.useState(false);
  const heading = React.useId();
  const groups = conditions.filter(each => each.guard === null);
  const single = conditions.filter(each => each.guard !== null);
  const left = single.length - FEW;
  const shown = isWhole || left <= 1 ? single : single.slice(0, FEW);
  return (
    <section className="jp-Compilescope-guardAnswer" aria-labelledby={heading}>
      <h3 id={heading}>{CONDITIONS_TITLE}</h3>
      <dl>
        {[...shown, ...groups].map(each => (
          <React.Fragment key={each.guard ?? each.name}>
            <dt>
              {each.guard === null ? (
                each.name
              ) : (
                <button
                  type="button"
                  className="jp-Compilescope-link jp-mod-code"
                  aria-pressed={each.guard === chosen}
                  title={trans.__('Show this guard')}
                  onClick={() => onChoose(each.guard!)}
                >
                  {each.name}
                </button>
              )}
            </dt>
            <dd className={each.guard === null ? 'jp-mod-group' : undefined}>
              {each.guard === null ? (
                each.requirement
              ) : (
                <code>{each.requirement}</code>
              )}
              {each.failed && (
                <Badge kind="error">{trans.__('has failed')}</Badge>
              )}
            </dd>
          </React.Fragment>
        ))}
      </dl>
      {shown.length < single.length && (
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
