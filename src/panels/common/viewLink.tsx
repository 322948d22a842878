import * as React from 'react';
import type { IViewContext, ViewTarget } from '../views';
import { resolve, VIEWS } from '../views';

/**
 * A link to a view of the same report.
 */
export function ViewLink(props: {
  view: string;

  /**
   * The variant to show; empty for the current one.
   */
  of?: string;

  /**
   * The compilation to show it of; empty for the one that is shown, and for all in a
   * view that lists several.
   */
  compilation?: string;

  /**
   * Whether it looks like plain text until it is hovered: a figure in a table.
   */
  isPlain?: boolean;
  context: IViewContext;
  children?: React.ReactNode;
}): JSX.Element {
  const { view, of, compilation, isPlain, context } = props;
  const record = VIEWS.find(({ id }) => id === resolve(view)?.view);
  const label = record?.label(context.trans) ?? view;
  return (
    <button
      type="button"
      className={`jp-Compilescope-link${isPlain ? ' jp-mod-plain' : ''}`}
      title={context.trans.__('Open %1', label)}
      onClick={() => {
        if (of) {
          context.model.variant = of;
        }
        if (compilation) {
          context.model.compilation = compilation;
        } else if (record?.lists) {
          context.model.showAllGraphs();
        }
        context.open(view as ViewTarget);
      }}
    >
      {props.children ?? label}
    </button>
  );
}

/**
 * A sentence without line breaks between a figure and its unit.
 */
export function joined(text: string): string {
  return text.replace(/(\d) (?=[nµm]?s\b|%)/g, '$1\u00a0');
}
