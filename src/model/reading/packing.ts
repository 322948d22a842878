import type { Graph } from '../../protocol/types';

/**
 * Give every node its stack again, which travels once for all that share it; as
 * `packed_graphs.py`. In place: an answer is unpacked once, however often it is read.
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
