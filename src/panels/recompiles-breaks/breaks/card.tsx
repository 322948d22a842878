import * as React from 'react';
import type { DistinctBreak } from '../../../protocol/types';
import {
  Badge,
  CallStack,
  CodeBlock,
  isSelected,
  Prose,
  SourceLink
} from '../../common';
import { formatCount, formatMicroseconds } from '../../../words/format';
import type { IViewContext } from '../../views';
import { documentationOf } from './link';

/**
 * One graph break: why, where, the code before and after it, and what to do.
 */
export function BreakCard(props: {
  graphBreak: DistinctBreak;
  context: IViewContext;
  view: object;

  /**
   * Opens the graph of a compilation; null if it has none.
   */
  graphOf: (id: string) => (() => void) | null;
}): JSX.Element {
  const { graphBreak, context, view, graphOf } = props;
  const {
    cause,
    count,
    intended,
    wasted_us,
    after_us,
    before,
    after,
    eager,
    code
  } = graphBreak;
  const { trans } = context;
  // A file of an earlier version has only torch's hints.
  const advice = graphBreak.advice.length ? graphBreak.advice : cause.hints;
  const title = React.useId();
  const { where } = cause;
  const link = documentationOf(cause.link);
  const isMarked = isSelected(context, where);
  return (
    <article
      className={`jp-Compilescope-card${isMarked ? ' jp-mod-marked' : ''}`}
      aria-labelledby={title}
    >
      <header>
        <h3 id={title}>
          <Prose text={cause.reason.replace(/\n/g, '; ')} />
        </h3>
        <Badge title={trans.__('Occurrences')}>
          {trans._n('once', '%2 times', count, formatCount(count))}
        </Badge>
        {wasted_us !== null && wasted_us > 0 && (
          <Badge
            kind={intended ? undefined : 'warning'}
            title={trans.__(
              'Compile time of the tracing attempts that this break ended, of which nothing was used, the least of all variants; excludes recompiles'
            )}
          >
            {intended
              ? trans.__('%1 of compile time', formatMicroseconds(wasted_us))
              : trans.__(
                  '%1 of compile time wasted',
                  formatMicroseconds(wasted_us)
                )}
          </Badge>
        )}
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
      {cause.explanation && (
        <p className="jp-Compilescope-words">
          <Prose text={cause.explanation} />
        </p>
      )}
      {advice.length > 0 && (
        <div className="jp-Compilescope-hints">
          <h4>{trans.__('What to do')}</h4>
          <ul>
            {advice.map((line, index) => (
              <li key={index}>
                <Prose text={line} />
              </li>
            ))}
          </ul>
          {code && (
            <>
              <p>
                <Prose
                  text={trans.__('Paste the code %1.', graphBreak.place)}
                />
              </p>
              <CodeBlock
                code={code}
                label={trans.__('Code to paste')}
                trans={trans}
              />
            </>
          )}
        </div>
      )}
      <dl>
        <dt>{trans.__('Graphs before it')}</dt>
        <dd>
          <Graphs ids={before} graphOf={graphOf} context={context} />
        </dd>
        <dt>{trans.__('Graphs after it')}</dt>
        <dd>
          <Graphs ids={after} graphOf={graphOf} context={context} />
        </dd>
        {after_us !== null && (
          <>
            <dt>{trans.__('The code after it')}</dt>
            <dd
              title={trans.__(
                'Excludes recompiles. Without the break, this code would be compiled together with the code before it.'
              )}
            >
              {trans.__('%1 to compile', formatMicroseconds(after_us))}
            </dd>
          </>
        )}
        <dt>{trans.__('Runs in eager')}</dt>
        <dd>
          {eager.length > 0 ? (
            <ul>
              {eager.map((call, index) => (
                <li key={index}>
                  <code>{call}</code>
                </li>
              ))}
            </ul>
          ) : (
            trans.__('torch does not record what')
          )}
        </dd>
      </dl>
      <footer>
        {link && (
          <a href={link} target="_blank" rel="noopener noreferrer">
            {trans.__('torch’s documentation')}
          </a>
        )}
        <CallStack stack={cause.stack} context={context} origin={view} />
        {cause.context && (
          <details>
            <summary>{trans.__('torch’s context')}</summary>
            <pre tabIndex={0}>{cause.context}</pre>
          </details>
        )}
      </footer>
    </article>
  );
}

function Graphs(props: {
  ids: readonly string[];
  graphOf: (id: string) => (() => void) | null;
  context: IViewContext;
}): JSX.Element {
  const { ids, graphOf, context } = props;
  const { trans } = context;
  if (ids.length === 0) {
    return <>{trans.__('none')}</>;
  }
  return (
    <span className="jp-Compilescope-graphs">
      {ids.map(id => {
        const open = graphOf(id);
        return open ? (
          <button
            key={id}
            type="button"
            className="jp-Compilescope-link jp-mod-code"
            title={trans.__('Open the graph of %1', id)}
            onClick={open}
          >
            {id}
          </button>
        ) : (
          <code
            key={id}
            title={trans.__('%1 has no graph: nothing was captured', id)}
          >
            {id}
          </code>
        );
      })}
    </span>
  );
}
