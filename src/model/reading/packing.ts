import type { Graph, Report } from '../../protocol/types';

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

/**
 * Give every variant of a file its graphs again: equal graphs stand in the file
 * once. A place that is not there has no graph.
 */
export function shareGraphs(report: Report): Report {
  const known = new Map<string, Graph>();
  for (const { name, compilations } of report.variants) {
    for (const { id, graphs } of compilations) {
      for (const [stage, graph] of Object.entries(graphs)) {
        const place = JSON.stringify([id, ...(graph.same_as ?? [name, stage])]);
        if (graph.same_as === null) {
          known.set(place, known.get(place) ?? graph);
        } else {
          graphs[stage] = {
            ...(known.get(place) ?? graph),
            stage: graph.stage
          };
        }
      }
    }
  }
  return report;
}
