import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { GHOST } from '../../../graph/diff/ghosts';
import type { IPrepared } from '../../../graph/prepare';
import { SourceLink } from '../../common';
import type { IViewContext } from '../../views';
import { nodeFacts } from './facts';
import { countNodes } from '../words';

/**
 * The details of the current node or group, with links to related nodes.
 */
export function Details(props: {
  context: IViewContext;
  prepared: IPrepared;
  item: number;
  origin: object;
  go: (node: number) => void;
  onClose: () => void;
}): JSX.Element {
  const { context, prepared, item, origin, go } = props;
  const { trans } = context;
  const { graph, grouping } = prepared;
  const group = grouping.groups[item - graph.nodes.length];
  return (
    <section
      className="jp-Compilescope-graph-details"
      aria-label={trans.__('Details')}
    >
      <h4>
        {group
          ? group.id.replace(/\//g, '.')
          : graph.nodes[item].name.replace(GHOST, '')}
      </h4>
      {group ? (
        <p>
          {[group.type, countNodes(group.size, trans)]
            .filter(Boolean)
            .join(' · ')}
        </p>
      ) : (
        <dl>
          {nodeFacts(prepared, item, trans).map(fact => (
            <div key={fact.label}>
              <dt>{fact.label}</dt>
              <dd>
                {fact.source ? (
                  <SourceLink
                    where={fact.source}
                    context={context}
                    origin={origin}
                    isWithCode
                  />
                ) : fact.nodes ? (
                  <NodeLinks names={fact.nodes} prepared={prepared} go={go} />
                ) : (
                  <code>{fact.value}</code>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <button
        type="button"
        className="jp-Compilescope-graph-button"
        title={trans.__('Close')}
        aria-label={trans.__('Close the details')}
        onClick={props.onClose}
      >
        <closeIcon.react tag="span" width="14px" height="14px" />
      </button>
    </section>
  );
}

const MAX_NODES = 24;

function NodeLinks(props: {
  names: readonly string[];
  prepared: IPrepared;
  go: (node: number) => void;
}): JSX.Element {
  const { names, prepared, go } = props;
  return (
    <>
      {names.slice(0, MAX_NODES).map(name => {
        const node = prepared.graph.at.get(name);
        return (
          <button
            key={name}
            type="button"
            className="jp-Compilescope-link jp-mod-code"
            disabled={node === undefined}
            onClick={() => go(node!)}
          >
            {name}
          </button>
        );
      })}
      {names.length > MAX_NODES && <span>+{names.length - MAX_NODES}</span>}
    </>
  );
}
