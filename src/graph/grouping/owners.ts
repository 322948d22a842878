import type { IIndexed } from '../indexed';
import { commonPath, splitModule } from './paths';

/**
 * What nodes are grouped by.
 *
 * - `module`: the module whose `forward` called the operation.
 * - `function`: the user's functions that the call went through.
 * - `kernel`: the kernel that the node became part of.
 * - `none`: nothing; the graph is flat.
 */
export type Basis = 'module' | 'function' | 'kernel' | 'none';

/**
 * The group that each node belongs to, as a path from the outermost group.
 */
export interface IOwners {
  readonly paths: readonly (readonly string[])[];

  /**
   * A path, joined by `/` → the class of its module.
   */
  readonly types: ReadonlyMap<string, string>;

  /**
   * How many nodes got their module from their neighbors.
   */
  readonly inferred: number;
}

/**
 * The bases that a graph's nodes can be grouped by, the best first.
 *
 * @param hasKernels - Whether it is known which nodes became which kernel.
 */
export function basesOf(graph: IIndexed, hasKernels: boolean): Basis[] {
  const bases: Basis[] = [];
  if (graph.nodes.some(node => node.module)) {
    bases.push('module');
  }
  const functions = new Set<string>();
  for (const node of graph.nodes) {
    if (node.op !== 'placeholder') {
      node.sources.forEach(source => functions.add(source.function));
    }
  }
  if (functions.size > 1) {
    bases.push('function');
  }
  if (hasKernels) {
    bases.push('kernel');
  }
  return [...bases, 'none'];
}

/**
 * @param stage - The graph's stage: a joint graph is parted in forward and
 * backward first.
 * @param kernelOf - Node → label of its kernel, for the basis `kernel`.
 */
export function ownersOf(
  graph: IIndexed,
  basis: Basis,
  stage: string,
  kernelOf: ReadonlyMap<number, string> = new Map()
): IOwners {
  const types = new Map<string, string>();
  let inferred = 0;
  let paths: (readonly string[])[];
  switch (basis) {
    case 'module':
      paths = graph.nodes.map(({ module, module_type: type }) => {
        const path = module ? splitModule(module) : [];
        if (type) {
          types.set(path.join('/'), type);
        }
        return path;
      });
      inferred = inferModules(graph, paths, stage);
      break;
    case 'function':
      paths = graph.nodes.map(node =>
        node.op === 'placeholder' ? [] : node.sources.map(s => s.function)
      );
      break;
    case 'kernel':
      paths = graph.nodes.map((_, i) =>
        kernelOf.has(i) ? [kernelOf.get(i)!] : []
      );
      break;
    default:
      paths = graph.nodes.map(() => []);
  }
  if (basis !== 'none' && basis !== 'kernel' && stage === 'joint') {
    const prefixes = directions(graph, paths);
    const typed = [...types];
    types.clear();
    for (const [path, type] of typed) {
      types.set(`forward/${path}`, type);
      types.set(`backward/${path}`, type);
    }
    paths = paths.map((path, i) =>
      prefixes[i] ? [prefixes[i], ...path] : path
    );
  }
  paths = paths.map((path, i) => [...inner(graph.nodes[i].name), ...path]);
  return { paths, types, inferred };
}

/**
 * The graphs in the graph (branches of a condition) that a node is in.
 */
function inner(name: string): string[] {
  return name.includes('.') ? name.split('.').slice(0, -1) : [];
}

/**
 * Nodes that a pass or autograd added (sums of gradients) name no module. They
 * go where what feeds them and what they feed are closest.
 */
function inferModules(
  graph: IIndexed,
  paths: (readonly string[])[],
  stage: string
): number {
  const isBackward = stage === 'joint' || stage.startsWith('backward');
  let inferred = 0;
  if (stage === 'dynamo') {
    return 0; // What names no module there is called outside of all.
  }
  graph.nodes.forEach((node, i) => {
    const isAdded =
      !node.module &&
      node.op !== 'placeholder' &&
      node.op !== 'output' &&
      node.origins.length === 0 &&
      (isBackward || node.sources.length === 0);
    if (!isAdded) {
      return;
    }
    const isKnown = (j: number) =>
      paths[j].length > 0 && graph.nodes[j].op !== 'placeholder';
    const before = graph.inputs[i].filter(isKnown).map(j => paths[j]);
    const after = nearestKnown(graph, i, isKnown).map(j => paths[j]);
    const common =
      before.length > 0 && after.length > 0
        ? before.flatMap(a => after.map(b => commonPath(a, b)))
        : [[...before, ...after].reduce(commonPath, before[0] ?? after[0])];
    const best = common.reduce(
      (a, b) => (b && b.length > (a?.length ?? 0) ? b : a),
      common[0]
    );
    if (best?.length) {
      paths[i] = best;
      inferred++;
    }
  });
  return inferred;
}

/**
 * The nearest nodes after a node that are known; looks through two that are
 * not.
 */
function nearestKnown(
  graph: IIndexed,
  node: number,
  isKnown: (node: number) => boolean
): number[] {
  const owned: number[] = [];
  let front = [node];
  for (let step = 0; step < 3 && owned.length === 0; step++) {
    front = front.flatMap(reached => graph.users[reached]);
    owned.push(...front.filter(isKnown));
  }
  return owned;
}

/**
 * Which half of a joint graph a node is in: what depends on a gradient is in the
 * backward. What comes from outside is in neither, but parameters stand with the
 * forward.
 */
function directions(
  graph: IIndexed,
  paths: readonly (readonly string[])[]
): ('forward' | 'backward' | '')[] {
  const isBackward: boolean[] = [];
  return graph.nodes.map((node, i) => {
    isBackward[i] =
      /^tangents_\d+$/.test(node.name) ||
      graph.inputs[i].some(input => isBackward[input]);
    if (node.op === 'output' || node.op === 'placeholder') {
      return paths[i].length > 0 ? 'forward' : '';
    }
    return isBackward[i] ? 'backward' : 'forward';
  });
}
