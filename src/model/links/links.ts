import type { Kernel, Region } from '../../protocol/types';
import type {
  ILinked,
  INodePosition,
  ISelection,
  ISourcePosition
} from '../../interfaces/selection';
import { isLineKey } from './lineKeys';
import { ILinkData } from './linkData';
import { whatIsMissing } from './unlinked';

/**
 * The stage whose nodes a kernel is made from.
 */
export function kernelStage({ direction }: Pick<Kernel, 'direction'>): string {
  return direction === 'backward' ? 'backward_post_grad' : 'post_grad';
}

/**
 * What a selection itself names, before anything is looked up.
 */
export function bareLinks(selection: ISelection): ILinked {
  const { key, kernel, node, source } = selection;
  return {
    keys: new Set(key === null ? [] : [key]),
    kernels: new Set(kernel === null ? [] : [kernel]),
    nodes: new Map(node ? [[node.stage, new Set([node.name])]] : []),
    sources: source ? [source] : [],
    missing: ''
  };
}

/**
 * Everything that a selection refers to: from the user's line to nodes, kernels
 * and launches, and in the other direction.
 */
export function resolveLinks(selection: ISelection, data: ILinkData): ILinked {
  const search = new Search(data);
  const { key, kernel, node, source } = selection;
  // What is named most exactly decides; the rest came along with it.
  if (key !== null && !isLineKey(key)) {
    search.fromKey(key);
  } else if (node) {
    search.fromNode(node);
  } else if (kernel !== null) {
    search.fromKernel(kernel);
  } else if (source) {
    search.fromSource(source);
  }
  const bare = bareLinks(selection);
  const linked: ILinked = {
    keys: union(bare.keys, search.keys),
    kernels: union(bare.kernels, search.names()),
    nodes: search.allNodes(),
    sources: search.sources(bare.sources),
    missing: ''
  };
  return { ...linked, missing: whatIsMissing(selection, linked, data) };
}

/**
 * One walk along the links.
 */
class Search {
  constructor(private _data: ILinkData) {}

  /**
   * Keys of launches.
   */
  readonly keys = new Set<string>();

  fromKey(key: string): void {
    const region = this._data.launches.get(key);
    const owners = this._data.kernels.filter(kernel =>
      kernel.launches.some(launch => launch.key === key)
    );
    this.keys.add(key);
    owners.forEach(owner => this._kernels.add(owner));
    for (const kernel of owners) {
      this._addNodes(kernelStage(kernel), region?.nodes ?? kernel.nodes);
    }
    this._addSources(region?.sources ?? owners.flatMap(owner => owner.sources));
  }

  fromKernel(name: string): void {
    for (const kernel of this._data.kernels.filter(k => k.name === name)) {
      this._addNodes(kernelStage(kernel), kernel.nodes);
      this._addSources(kernel.sources);
      kernel.launches.forEach(({ key }) => this.keys.add(key));
    }
    this._addOwners();
  }

  fromNode({ stage, name }: INodePosition): void {
    const { graphs } = this._data;
    const node = graphs.get(stage)?.node(name);
    this._addNodes(stage, [name]);
    this._addSources(node?.sources ?? []);
    for (const final of ['post_grad', 'backward_post_grad']) {
      const graph = graphs.get(final);
      if (graph && final !== stage) {
        this._addNodes(final, graph.partners(stage, name, node?.origins ?? []));
      }
    }
    this._addLaunches();
  }

  fromSource(source: ISourcePosition): void {
    for (const [stage, graph] of this._data.graphs) {
      this._addNodes(stage, graph.from(source));
    }
    for (const kernel of this._data.kernels.filter(candidate =>
      isFrom(candidate, source)
    )) {
      for (const key of new Set(kernel.launches.map(launch => launch.key))) {
        const region = this._data.launches.get(key);
        if (!region || isFrom(region, source)) {
          this.keys.add(key);
          this._addNodes(kernelStage(kernel), region?.nodes ?? kernel.nodes);
        }
      }
    }
    this._addOwners();
  }

  names(): Set<string> {
    return new Set([...this._kernels].map(({ name }) => name));
  }

  /**
   * The nodes of every stage that is there.
   */
  allNodes(): Map<string, ReadonlySet<string>> {
    const { graphs } = this._data;
    const origins = new Set<string>();
    for (const [stage, names] of this._nodes) {
      for (const name of names) {
        const node = graphs.get(stage)?.node(name);
        const known = stage === 'dynamo' ? [name] : (node?.origins ?? []);
        known.forEach(origin => origins.add(origin));
      }
    }
    const byStage = new Map<string, ReadonlySet<string>>(this._nodes);
    for (const [stage, graph] of graphs) {
      if (!this._nodes.has(stage)) {
        const names = new Set(graph.withOrigins(origins));
        for (const [other, ownNames] of this._nodes) {
          for (const name of ownNames) {
            const node = graphs.get(other)?.node(name);
            if (!node?.origins.length && other !== 'dynamo') {
              graph
                .partners(other, name, [])
                .forEach(partner => names.add(partner));
            }
          }
        }
        if (names.size > 0) {
          byStage.set(stage, names);
        }
      }
    }
    return byStage;
  }

  /**
   * The user's lines, each once; of a stack of calls the innermost line in the
   * user's cells, or else the innermost one.
   */
  sources(first: readonly ISourcePosition[]): ISourcePosition[] {
    const positions = new Map<string, ISourcePosition>();
    const add = ({ file, line }: ISourcePosition) =>
      positions.set(`${line}:${file}`, { file, line });
    first.forEach(add);
    if (first.length === 0) {
      this._sources.forEach(add);
    }
    return [...positions.values()];
  }

  private _addNodes(stage: string, names: Iterable<string>): void {
    const known = this._nodes.get(stage) ?? new Set<string>();
    for (const name of names) {
      known.add(name);
    }
    if (known.size > 0) {
      this._nodes.set(stage, known);
    }
  }

  private _addSources(stack: readonly ISourcePosition[]): void {
    const inCells = stack.filter(({ file }) => file in this._data.files);
    const list = inCells.length ? inCells : stack;
    if (list.length) {
      this._sources.push(list[list.length - 1]);
    }
  }

  /**
   * The launches that the nodes found so far became.
   */
  private _addLaunches(): void {
    for (const kernel of this._data.kernels) {
      const names = this._nodes.get(kernelStage(kernel));
      if (!names || !kernel.nodes.some(name => names.has(name))) {
        continue;
      }
      for (const { key } of kernel.launches) {
        const nodes = this._data.launches.get(key)?.nodes ?? kernel.nodes;
        if (nodes.some(name => names.has(name))) {
          this.keys.add(key);
        }
      }
      this._kernels.add(kernel);
    }
    this._addOwners();
  }

  /**
   * The kernels, in whichever variant, that the launches found so far call.
   */
  private _addOwners(): void {
    for (const kernel of this._data.kernels) {
      if (kernel.launches.some(({ key }) => this.keys.has(key))) {
        this._kernels.add(kernel);
      }
    }
  }

  private _kernels = new Set<Kernel>();
  private _nodes = new Map<string, Set<string>>();
  private _sources: ISourcePosition[] = [];
}

function isFrom(
  { sources }: Pick<Kernel | Region, 'sources'>,
  { file, line }: ISourcePosition
): boolean {
  return sources.some(source => source.line === line && source.file === file);
}

function union<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): ReadonlySet<T> {
  return new Set([...a, ...b]);
}
