import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Decomposition } from '../../../protocol/types';
import { Badge, SourceLink, useLoaded, ViewFrame } from '../../common';
import type { IViewContext } from '../../views';
import type { IGraphData } from '../types';
import { stageTitle } from '../words';

/**
 * At most so many nodes of a decomposition are named.
 */
const MOST = 24;

/**
 * Which operator became which, and by what: a list beside the graph. A click
 * shows the nodes.
 */
export function Decompositions(props: {
  context: IViewContext;
  data: IGraphData;

  /**
   * Shows a node of a stage.
   */
  go: (stage: string, node: string) => void;
}): JSX.Element {
  const { context, data, go } = props;
  const { model, trans } = context;
  const { variant, compilation } = data;
  const state = useLoaded(
    () => model.getCompilation(variant, compilation, ['decompositions']),
    JSON.stringify([
      model.subject,
      variant,
      compilation,
      model.report?.revision
    ]),
    trans.__('Loading…')
  );
  return (
    <aside
      className="jp-Compilescope-decompositions"
      aria-label={trans.__('Decompositions')}
    >
      <ViewFrame
        state={state}
        trans={trans}
        show={({ decompositions }) =>
          decompositions.length === 0 ? (
            <p className="jp-Compilescope-hint">
              {trans.__('No operator was decomposed.')}
            </p>
          ) : (
            <ul>
              {decompositions.map((decomposition, index) => (
                <li key={index}>
                  <Entry
                    each={decomposition}
                    context={context}
                    data={data}
                    go={go}
                  />
                </li>
              ))}
            </ul>
          )
        }
      />
    </aside>
  );
}

function Entry(props: {
  each: Decomposition;
  context: IViewContext;
  data: IGraphData;
  go: (stage: string, node: string) => void;
}): JSX.Element {
  const { each, context, data, go } = props;
  const { trans } = context;
  const has = data.stages.includes(each.stage);
  return (
    <details>
      <summary>
        <code>{each.operator || trans.__('nothing')}</code>
        {' → '}
        <code>{each.into.join(', ') || trans.__('nothing')}</code>{' '}
        <Badge>{byTitle(each.by, trans)}</Badge>
        {each.count > 1 && <span> ×{each.count}</span>}
      </summary>
      <p className="jp-Compilescope-muted">
        {trans.__('Seen in: %1', stageTitle(each.stage, trans))}
        {each.why && `. ${each.why}`}
      </p>
      <p>
        {each.became.slice(0, MOST).map(name => (
          <button
            key={name}
            type="button"
            className="jp-Compilescope-link jp-mod-code"
            disabled={!has}
            onClick={() => go(each.stage, name)}
          >
            {name}
          </button>
        ))}
        {each.became.length > MOST && <span>+{each.became.length - MOST}</span>}
      </p>
      {each.sources.slice(0, 3).map((where, index) => (
        <SourceLink key={index} where={where} context={context} origin={each} />
      ))}
    </details>
  );
}

function byTitle(by: Decomposition['by'], trans: TranslationBundle): string {
  switch (by) {
    case 'autograd':
      return trans.__('derivative');
    case 'decomposition':
      return trans.__('decomposition');
    case 'dispatch':
      return trans.__('dispatch');
    case 'pass':
      return trans.__('pass');
    case 'unknown':
      return trans.__('unknown');
  }
}
