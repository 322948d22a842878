import * as React from 'react';
import type { ColorMode } from '../../graph/color/coloring';
import type { IPrepared } from '../../graph/prepare';
import { formatCount } from '../../words/format';
import { Badge } from '../common';
import type { IViewContext } from '../views';
import type { ILaidOutGraph } from './hooks';
import { basisTitle, countNodes } from './words';

/**
 * The header of a drawing: the stage, its size, and anything unusual.
 */
export function GraphHeader(props: {
  context: IViewContext;
  picker: React.ReactNode;
  prepared: IPrepared;
  absent: Readonly<Record<string, string>>;
  layout: ILaidOutGraph;

  /**
   * Why the picture could not be saved; null if it did not fail.
   */
  unsaved: string | null;
  hits: { count: number; at: number } | null;
  mode: ColorMode;
}): JSX.Element {
  const { context, prepared, absent, layout, unsaved, hits, mode } = props;
  const { trans } = context;
  const { graph, grouping, diff } = prepared;
  return (
    <header className="jp-Compilescope-graph-header">
      {props.picker}
      <span>{countNodes(graph.nodes.length, trans)}</span>
      <span
        className="jp-Compilescope-graph-note"
        title={whyBasis(prepared, absent, trans)}
      >
        {grouping.basis === 'none'
          ? trans.__('not grouped')
          : trans.__('by %1', basisTitle(grouping.basis, trans).toLowerCase())}
      </span>
      {mode === 'change' && diff && (
        <span>
          {trans.__(
            '+%1 ~%2 −%3',
            diff.counts.added,
            diff.counts.rewritten,
            diff.counts.removed
          )}
        </span>
      )}
      {hits && (
        <span role="status">
          {hits.at >= 0
            ? trans.__(
                'match %1 of %2',
                formatCount(hits.at + 1),
                formatCount(hits.count)
              )
            : trans._n(
                '%2 match',
                '%2 matches',
                hits.count,
                formatCount(hits.count)
              )}
        </span>
      )}
      {layout.isBusy && (
        <span className="jp-Compilescope-graph-busy" role="status">
          {trans.__('Laying out…')}
          <button
            type="button"
            className="jp-Compilescope-link"
            onClick={layout.cancel}
          >
            {trans.__('Cancel')}
          </button>
        </span>
      )}
      {layout.fallback !== null && (
        <Badge
          title={[
            trans.__(
              'No web worker is available: graphs are laid out on the main thread, in slices.'
            ),
            layout.fallback
          ]
            .filter(Boolean)
            .join('\n')}
        >
          {trans.__('no worker')}
        </Badge>
      )}
      {unsaved !== null && (
        <Badge kind="error" title={unsaved}>
          {trans.__('could not be saved: %1', unsaved)}
        </Badge>
      )}
      {layout.error && (
        <Badge kind="error" title={layout.error}>
          {trans.__('could not be laid out: %1', layout.error)}
        </Badge>
      )}
    </header>
  );
}

/**
 * The source of the grouping, if it is not torch's modules.
 */
function whyBasis(
  { grouping }: IPrepared,
  absent: Readonly<Record<string, string>>,
  trans: IViewContext['trans']
): string {
  const sentences: string[] = [];
  switch (grouping.basis) {
    case 'module':
      sentences.push(
        trans.__('Grouped by the module that torch names for a node.')
      );
      if (grouping.inferred > 0) {
        sentences.push(
          trans._n(
            '%2 node without a module is placed with its neighbors.',
            '%2 nodes without a module are placed with their neighbors.',
            grouping.inferred,
            formatCount(grouping.inferred)
          )
        );
      }
      break;
    case 'function':
      sentences.push(
        trans.__('No modules are known here: grouped by the functions called.')
      );
      break;
    case 'kernel':
      sentences.push(trans.__('Grouped by kernel.'));
      break;
    default:
      sentences.push(trans.__('Not grouped.'));
  }
  if (absent.modules) {
    sentences.push(absent.modules);
  }
  return sentences.join('\n');
}
