import * as React from 'react';
import type { Advice, Compilation } from '../../../protocol/types';
import { SUGGESTIONS_TITLE } from '../../../protocol/types';
import {
  Badge,
  CodeBlock,
  isSelected,
  Meter,
  Prose,
  SourceLink
} from '../../common';
import { formatSeconds } from '../../../words/format';
import type { IViewContext } from '../../views';
import { Failures } from './failures';
import { reasonOf } from './frames';

/**
 * Why a frame was compiled again, what that cost, and what to change.
 */
export function RecompileCard(props: {
  compilation: Compilation;
  isChosen: boolean;
  context: IViewContext;
  view: object;
  onSelect: (id: string) => void;
  onCompare: (from: string, to: string) => void;
  onGuards: (id: string) => void;
}): JSX.Element | null {
  const { compilation, isChosen, context, view } = props;
  const { id, recompile, duration_s, call } = compilation;
  const { trans } = context;
  const title = React.useId();
  const node = React.useRef<HTMLElement>(null);
  React.useEffect(() => {
    if (isChosen) {
      node.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [isChosen]);
  if (!recompile) {
    return null;
  }
  const { previous, causes, became_dynamic, reasons, advice } = recompile;
  const isMarked = causes.some(({ where }) => isSelected(context, where));
  return (
    <article
      ref={node}
      className={
        'jp-Compilescope-card' +
        (isChosen ? ' jp-mod-chosen' : '') +
        (isMarked ? ' jp-mod-marked' : '')
      }
      aria-labelledby={title}
    >
      <header>
        <h3 id={title}>
          <button
            type="button"
            className="jp-Compilescope-cardId"
            aria-pressed={isChosen}
            title={trans.__('Show %1 in all views', id)}
            onClick={() => props.onSelect(id)}
          >
            {id}
          </button>{' '}
          <span>{reasonOf(compilation) || trans.__('recompiled')}</span>
        </h3>
        {duration_s !== null && (
          <Badge title={trans.__('Compile time of this compilation')}>
            {formatSeconds(duration_s)}
          </Badge>
        )}
        <Limit compilation={compilation} context={context} />
      </header>
      {causes.length > 0 && (
        <Failures
          causes={causes}
          context={context}
          view={view}
          onGuards={props.onGuards}
        />
      )}
      {became_dynamic.length > 0 && (
        <p>
          {trans.__('Dynamic from here on:')}{' '}
          {became_dynamic.map((name, index) => (
            <React.Fragment key={index}>
              {index > 0 && ', '}
              <code>{name}</code>
            </React.Fragment>
          ))}
        </p>
      )}
      {call && (
        <p>
          {trans.__('Compiled for')}{' '}
          <SourceLink where={call} context={context} origin={view} isWithCode />
        </p>
      )}
      {advice.map((suggestion, index) => (
        <AdviceCard
          key={index}
          advice={suggestion}
          context={context}
          view={view}
        />
      ))}
      <footer>
        {previous && (
          <button
            type="button"
            className="jp-Compilescope-button"
            onClick={() => props.onCompare(previous, id)}
          >
            {trans.__('Compare with %1', previous)}
          </button>
        )}
        {reasons.length > 0 && (
          <details>
            <summary>{trans.__('Message from torch')}</summary>
            <pre tabIndex={0}>{reasons.join('\n')}</pre>
          </details>
        )}
      </footer>
    </article>
  );
}

/**
 * How close the frame is to torch's limit.
 */
function Limit(props: {
  compilation: Compilation;
  context: IViewContext;
}): JSX.Element | null {
  const { compilation, context } = props;
  const { trans } = context;
  const { count, limit, at_limit, limit_text } = compilation.recompile!;
  if (count === null || limit === null) {
    return null;
  }
  const text = trans.__('%1 of %2 compilations', count, limit);
  return (
    <span className="jp-Compilescope-limit">
      <Meter value={count} max={limit} label={limit_text || text} />
      <span>{text}</span>
      {at_limit && <Badge kind="error">{trans.__('limit reached')}</Badge>}
    </span>
  );
}

/**
 * What to change, as code to paste.
 */
function AdviceCard(props: {
  advice: Advice;
  context: IViewContext;
  view: object;
}): JSX.Element {
  const { advice, context, view } = props;
  const { trans } = context;
  return (
    <aside className="jp-Compilescope-advice" aria-label={SUGGESTIONS_TITLE}>
      <p>
        <Prose text={advice.what} />
      </p>
      {advice.code && (
        <CodeBlock
          code={advice.code}
          label={trans.__('Code to paste')}
          trans={trans}
        />
      )}
      {advice.where && (
        <p>
          {trans.__('Goes to')}{' '}
          <SourceLink
            where={advice.where}
            context={context}
            origin={view}
            isWithCode
          />
        </p>
      )}
    </aside>
  );
}
