import type { Graph } from '../../protocol/types';

/**
 * Give every node its stack again: nodes that share a stack are sent with one
 * copy of it, as in `packed_graphs.py`. Works in place: a reply is unpacked
 * once, however often it is read.
 */
export function unpack(graph: Graph): Graph {
  const { stacks } = graph;
  for (const node of graph.nodes) {
    if (node.stack !== null) {
      node.sources = stacks[node.stack] ?? [];
      node.stack = null;
    }
  }
  return graph;
}
