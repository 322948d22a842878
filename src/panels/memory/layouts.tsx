import * as React from 'react';
import type { LayoutChange } from '../../protocol/types';
import { Badge, useShowAll, SourceLink } from '../common';
import { formatBytes } from '../../words/format';
import type { IViewContext } from '../views';
import { stageOf } from './rows';

/**
 * The maximum number of changes that are listed initially.
 */
const MAX_CHANGES = 20;

/**
 * Where strides change: copies that do nothing else, and strides that Inductor
 * chose.
 */
export function Layouts(props: {
  layouts: readonly LayoutChange[];
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { layouts, context, origin } = props;
  const { model, trans } = context;
  const [shown, showAll] = useShowAll(layouts, MAX_CHANGES, trans);
  return (
    <section aria-labelledby="jp-Compilescope-layouts">
      <h3 id="jp-Compilescope-layouts">{trans.__('Layout changes')}</h3>
      {layouts.length === 0 && (
        <p className="jp-Compilescope-hint">
          {trans.__(
            'None: every value has the layout of the graph, and no copy changes strides.'
          )}
        </p>
      )}
      <ul className="jp-Compilescope-layouts">
        {shown.map((layoutChange, index) => (
          <li key={index}>
            <button
              type="button"
              className="jp-Compilescope-link jp-mod-code"
              title={layoutChange.node}
              onClick={() => {
                model.select({
                  node: {
                    stage: stageOf(layoutChange.direction),
                    name: layoutChange.node
                  },
                  origin
                });
                context.open('graph');
              }}
            >
              {layoutChange.title || layoutChange.node}
            </button>
            <code>
              {layoutChange.old} → {layoutChange.new}
            </code>
            {layoutChange.bytes !== null && (
              <span>{formatBytes(layoutChange.bytes)}</span>
            )}
            <Badge>
              {layoutChange.inserted ? trans.__('copy') : trans.__('no copy')}
            </Badge>
            {layoutChange.sources[0] && (
              <SourceLink
                where={layoutChange.sources[0]}
                context={context}
                origin={origin}
              />
            )}
            <span className="jp-Compilescope-muted">{layoutChange.why}</span>
          </li>
        ))}
      </ul>
      {showAll}
    </section>
  );
}
