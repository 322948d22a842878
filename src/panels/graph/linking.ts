import type { IPrepared } from '../../graph/prepare';
import type { ILinked, ISelection } from '../../interfaces/selection';
import type { ISubjectModel } from '../../interfaces/subject';
import { GHOST } from '../../graph/diff/ghosts';

/**
 * The nodes that belong to the selection.
 */
export function litNodes(
  selection: ISelection,
  linked: ILinked,
  { graph, stage, fusions }: IPrepared
): ReadonlySet<number> {
  const lit = new Set<number>();
  const add = (name: string) => {
    const node = graph.at.get(name);
    if (node !== undefined) {
      lit.add(node);
    }
  };
  linked.nodes.get(stage)?.forEach(add);
  if (selection.node?.stage === stage) {
    add(selection.node.name);
  }
  if (lit.size > 0) {
    return lit;
  }
  // What this graph provides itself, until the links are resolved.
  const { key, kernel, source } = selection;
  for (const fusion of fusions) {
    const isIt = key
      ? fusion.key === key
      : kernel !== null && fusion.kernel.name === kernel;
    if (isIt) {
      fusion.nodes.forEach(node => lit.add(node));
    }
  }
  if (source && !key && !kernel && !selection.node) {
    graph.nodes.forEach((node, i) => {
      const isAt = node.sources.some(
        sourceLine =>
          sourceLine.line === source.line && sourceLine.file === source.file
      );
      if (isAt && node.op !== 'placeholder') {
        lit.add(i);
      }
    });
  }
  return lit;
}

/**
 * Selects a node with its line, its kernel and its launch, as far as they are
 * known.
 */
export function selectNode(
  model: ISubjectModel,
  { graph, stage, fusionOf }: IPrepared,
  node: number,
  origin: object
): void {
  const { name, sources } = graph.nodes[node];
  if (name.startsWith(GHOST)) {
    return;
  }
  const source = sources[sources.length - 1];
  const fusion = fusionOf.get(node);
  model.select({
    node: { stage, name },
    source: source ? { file: source.file, line: source.line } : null,
    kernel: fusion?.kernel.name ?? null,
    key: fusion?.key ?? null,
    origin
  });
}
