import * as React from 'react';
import type { Effective, VariantReport } from '../../protocol/types';
import { Badge, CodeBlock, SourceLink } from '../common';
import type { IViewContext } from '../views';
import { Prose } from './prose';
import type { ISetting } from './settings';

/**
 * The maximum number of operators that are named.
 */
const MAX_OPERATORS = 24;

/**
 * The settings where torch deviated from the request: torch's reason, and what
 * to change.
 */
export function Deviations(props: {
  settings: readonly ISetting[];
  variants: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element {
  const { settings, variants, context } = props;
  return (
    <ul className="jp-Compilescope-deviations">
      {settings.flatMap(({ setting, cells }, row) =>
        grouped(cells, variants).map(({ effective, names }, index) => (
          <li key={`${row}.${index}`}>
            <Deviation
              setting={setting}
              effective={effective}
              names={names}
              isOfAll={names.length === variants.length}
              context={context}
            />
          </li>
        ))
      )}
    </ul>
  );
}

function Deviation(props: {
  setting: string;
  effective: Effective;
  names: readonly string[];
  isOfAll: boolean;
  context: IViewContext;
}): JSX.Element {
  const { setting, effective, names, context } = props;
  const { trans } = context;
  const { requested, actual, why, remedy, code, operators, where } = effective;
  const [isWhole, setWhole] = React.useState(false);
  const shown = isWhole ? operators : operators.slice(0, MAX_OPERATORS);
  return (
    <article className="jp-Compilescope-deviation">
      <header>
        <h4>{setting}</h4>
        {props.isOfAll && names.length > 1 ? (
          <Badge>{trans.__('all variants')}</Badge>
        ) : (
          names.map(name => <Badge key={name}>{name}</Badge>)
        )}
      </header>
      <dl>
        <div>
          <dt>{trans.__('requested')}</dt>
          <dd>{requested || '–'}</dd>
        </div>
        <div className="jp-mod-actual">
          <dt>{trans.__('effective')}</dt>
          <dd>{actual || '–'}</dd>
        </div>
      </dl>
      {why && (
        <div>
          <span className="jp-Compilescope-muted">{trans.__('Why:')}</span>{' '}
          <Prose text={why} trans={trans} />
        </div>
      )}
      {shown.length > 0 && (
        <p className="jp-Compilescope-operators">
          {shown.map((operator, index) => (
            <code key={index}>{operator}</code>
          ))}
          {shown.length < operators.length && (
            <button
              type="button"
              className="jp-Compilescope-link"
              onClick={() => setWhole(true)}
            >
              {trans.__('%1 more', operators.length - shown.length)}
            </button>
          )}
        </p>
      )}
      {where && <SourceLink where={where} context={context} isWithCode />}
      {remedy && (
        <div className="jp-Compilescope-remedy">
          <span className="jp-Compilescope-muted">
            {trans.__('What to change:')}
          </span>{' '}
          <Prose text={remedy} trans={trans} isRemedy={!code} />
          {code && <CodeBlock code={code} trans={trans} />}
        </div>
      )}
    </article>
  );
}

/** Deviations that several variants share appear only once. */
function grouped(
  cells: readonly (Effective | null)[],
  variants: readonly VariantReport[]
): { effective: Effective; names: string[] }[] {
  const groups = new Map<string, { effective: Effective; names: string[] }>();
  cells.forEach((effective, column) => {
    if (effective?.differs) {
      const key = JSON.stringify(effective);
      const group = groups.get(key) ?? { effective, names: [] };
      groups.set(key, group);
      group.names.push(variants[column].name);
    }
  });
  return [...groups.values()];
}
