import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Decomposition } from '../../../protocol/types';
import { Badge, SourceLink, useLoaded, ViewFrame } from '../../common';
import type { IViewContext } from '../../views';
import type { IGraphData } from '../types';
import { stageTitle } from '../words';

/**
 * The maximum number of nodes named for a decomposition.
 */
const MAX_NODES = 24;

/**
 * Which operator became which, and through which decomposition: a list beside
 * the graph. A click selects the nodes.
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
                    decomposition={decomposition}
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
  decomposition: Decomposition;
  context: IViewContext;
  data: IGraphData;
  go: (stage: string, node: string) => void;
}): JSX.Element {
  const { decomposition, context, data, go } = props;
  const { trans } = context;
  const has = data.stages.includes(decomposition.stage);
  return (
    <details>
      <summary>
        <code>{decomposition.operator || trans.__('nothing')}</code>
        {' → '}
        <code>{decomposition.into.join(', ') || trans.__('nothing')}</code>{' '}
        <Badge>{byTitle(decomposition.by, trans)}</Badge>
        {decomposition.count > 1 && <span> ×{decomposition.count}</span>}
      </summary>
      <p className="jp-Compilescope-muted">
        {trans.__('Seen in: %1', stageTitle(decomposition.stage, trans))}
        {decomposition.why && `. ${decomposition.why}`}
      </p>
      <p>
        {decomposition.became.slice(0, MAX_NODES).map(name => (
          <button
            key={name}
            type="button"
            className="jp-Compilescope-link jp-mod-code"
            disabled={!has}
            onClick={() => go(decomposition.stage, name)}
          >
            {name}
          </button>
        ))}
        {decomposition.became.length > MAX_NODES && (
          <span>+{decomposition.became.length - MAX_NODES}</span>
        )}
      </p>
      {decomposition.sources.slice(0, 3).map((where, index) => (
        <SourceLink
          key={index}
          where={where}
          context={context}
          origin={decomposition}
        />
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
