import * as React from 'react';
import type { ShapeDecision, ShapeExpression } from '../../../protocol/types';
import { SHAPE_DECISION_NOTES, SHAPE_DECISIONS } from '../../../protocol/types';
import { Badge, CallStack, isSelected, SourceLink } from '../../common';
import type { IViewContext } from '../../views';
import { treeOf } from './tree';

/**
 * An assumption of a compilation about its sizes: the assumption, the line that
 * causes it, and the expressions from which it was computed.
 */
export function DecisionCard(props: {
  decision: ShapeDecision;
  expressions: readonly ShapeExpression[];
  context: IViewContext;
  view: object;
}): JSX.Element {
  const { decision, expressions, context, view } = props;
  const { kind, expression, result, reason, stack, provenance } = decision;
  const { trans } = context;
  const title = React.useId();
  const where = stack.length > 0 ? stack[stack.length - 1] : null;
  const sources = Object.entries(decision.sources);
  const locals = Object.entries(decision.locals);
  const isMarked = isSelected(context, where);
  return (
    <article
      className={`jp-Compilescope-card${isMarked ? ' jp-mod-marked' : ''}`}
      aria-labelledby={title}
    >
      <header>
        <h3 id={title}>
          <code>{result ? `${expression} = ${result}` : expression}</code>
        </h3>
        <Badge
          kind={kind === 'guard' ? 'plain' : 'warning'}
          title={SHAPE_DECISION_NOTES[kind]}
        >
          {SHAPE_DECISIONS[kind]}
        </Badge>
        {reason && <span className="jp-Compilescope-muted">{reason}</span>}
      </header>
      {where && (
        <p>
          <SourceLink
            where={where}
            context={context}
            origin={view}
            isWithCode
          />
        </p>
      )}
      {sources.length + locals.length > 0 && (
        <dl>
          {sources.map(([name, source]) => (
            <React.Fragment key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                <code>{source}</code>
              </dd>
            </React.Fragment>
          ))}
          {locals.map(([name, value]) => (
            <React.Fragment key={`local ${name}`}>
              <dt>
                {trans.__('local')} <code>{name}</code>
              </dt>
              <dd>
                <code>{value}</code>
              </dd>
            </React.Fragment>
          ))}
        </dl>
      )}
      <footer>
        {provenance !== null && (
          <details>
            <summary>{trans.__('Computed from')}</summary>
            <Tree
              root={provenance}
              expressions={expressions}
              context={context}
              view={view}
            />
          </details>
        )}
        <CallStack stack={stack} context={context} origin={view} />
      </footer>
    </article>
  );
}

function Tree(props: {
  root: number;
  expressions: readonly ShapeExpression[];
  context: IViewContext;
  view: object;
}): JSX.Element {
  const { root, expressions, context, view } = props;
  const { trans } = context;
  return (
    <ul className="jp-Compilescope-expressions">
      {treeOf(root, expressions).map(({ expression, depth }, index) => (
        <li
          key={index}
          aria-level={depth + 1}
          style={{ paddingInlineStart: `${depth * 16}px` }}
        >
          <code>{expression.text}</code>{' '}
          <span className="jp-Compilescope-muted">
            {expression.method
              ? `${expression.method}(${expression.arguments.join(', ')})`
              : trans.__('unbacked')}
          </span>{' '}
          {expression.stack.length > 0 && (
            <SourceLink
              where={expression.stack[expression.stack.length - 1]}
              context={context}
              origin={view}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
