import * as React from 'react';
import type { SourceLine } from '../../protocol/types';
import { formatPlace } from '../../words/format';
import type { IViewContext } from '../views';
import { Elided } from './tables/elided';

/**
 * A line of the user's code. A click selects it in all views and opens it where
 * it is.
 */
export function SourceLink(props: {
  where: SourceLine;
  context: IViewContext;

  /**
   * The view, so that it can recognize its own selections.
   */
  origin?: object | null;

  /**
   * Whether the text of the line follows.
   */
  isWithCode?: boolean;

  /**
   * Not reachable with the Tab key: for rows that are navigated with the arrow
   * keys.
   */
  isInRow?: boolean;
}): JSX.Element {
  const { where, context, origin = null } = props;
  const { model, trans } = context;
  const place = `${where.file}:${where.line}`;
  const code = where.code.trim();
  const label = formatPlace(where, model.report?.files ?? {}, trans);
  return (
    <span className="jp-Compilescope-source">
      <button
        type="button"
        className="jp-Compilescope-link jp-mod-code"
        tabIndex={props.isInRow ? -1 : undefined}
        title={
          code && !props.isWithCode
            ? `${place}\n${code}`
            : trans.__('Go to %1', place)
        }
        onClick={event => {
          event.stopPropagation();
          reveal(context, where, origin);
        }}
      >
        {props.isInRow ? <Elided text={label} /> : label}
      </button>
      {props.isWithCode && code && <code>{code}</code>}
    </span>
  );
}

/**
 * The calls that led to a line, folded; nothing if only the line is known.
 */
export function CallStack(props: {
  stack: readonly SourceLine[];
  context: IViewContext;
  origin: object;
}): JSX.Element | null {
  const { stack, context, origin } = props;
  return stack.length > 1 ? (
    <details>
      <summary>{context.trans.__('Call stack')}</summary>
      <ol>
        {stack.map((sourceLine, index) => (
          <li key={index}>
            <SourceLink
              where={sourceLine}
              context={context}
              origin={origin}
              isWithCode
            />
          </li>
        ))}
      </ol>
    </details>
  ) : null;
}

/**
 * Selects a line of the user's code, and opens it where it is.
 */
export function reveal(
  { model, reveal }: IViewContext,
  { file, line }: SourceLine,
  origin: object | null = null
): void {
  const source = { file, line };
  model.select({ source, origin });
  reveal?.(source);
}

/**
 * Whether a line is part of the selection.
 */
export function isSelected(
  { model }: IViewContext,
  where: SourceLine | null
): boolean {
  if (!where) {
    return false;
  }
  const { source } = model.selection;
  const isAt = (position: { file: string; line: number }) =>
    position.line === where.line && position.file === where.file;
  return (source !== null && isAt(source)) || model.linked.sources.some(isAt);
}
