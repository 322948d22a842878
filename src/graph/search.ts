import { GHOST } from './diff/ghosts';
import type { IIndexed } from './indexed';
import { shapeText } from './labels';
import type { IGrouping } from './grouping/types';

/**
 * The nodes whose name, operator, target, module or shape has all words of a
 * query, in the order in which they are drawn.
 *
 * A shape is written as it is shown, `8×16`, or with an x.
 */
export function searchNodes(
  graph: IIndexed,
  grouping: IGrouping,
  query: string
): number[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    return [];
  }
  const hits: number[] = [];
  graph.nodes.forEach((node, i) => {
    const shape = shapeText(node);
    const text = [
      node.name.replace(GHOST, ''),
      node.op,
      node.target,
      node.module ?? '',
      node.module_type ?? '',
      shape,
      shape.replace(/×/g, 'x'),
      `[${node.shape?.join(', ') ?? ''}]`,
      node.dtype ?? ''
    ]
      .join('\n')
      .toLowerCase();
    if (words.every(word => text.includes(word))) {
      hits.push(i);
    }
  });
  return hits.sort((a, b) => grouping.place[a] - grouping.place[b] || a - b);
}

/**
 * The groups around a node, from the outermost, without the graph itself.
 */
export function groupsAround(grouping: IGrouping, node: number): number[] {
  const around: number[] = [];
  for (
    let group = grouping.groupOf[node];
    group > 0;
    group = grouping.groups[group].parent
  ) {
    around.unshift(group);
  }
  return around;
}
