import type { Graph, Node } from '../../protocol/types';
import type { ISourcePosition } from '../../interfaces/selection';

/**
 * An index of the origins of one graph's nodes.
 */
export class GraphIndex {
  /**
   * The index of a graph, created once.
   */
  static of(graph: Graph): GraphIndex {
    let index = indexes.get(graph);
    if (!index) {
      index = new GraphIndex(graph);
      indexes.set(graph, index);
    }
    return index;
  }

  private constructor(graph: Graph) {
    this.stage = graph.stage;
    for (const node of graph.nodes) {
      this._nodes.set(node.name, node);
      for (const origin of node.origins) {
        append(this._byOrigin, origin, node.name);
      }
      for (const { file, line } of node.sources) {
        append(this._bySource, `${line}:${file}`, node.name);
      }
    }
  }

  readonly stage: string;

  /**
   * A node by its name.
   */
  node(name: string): Node | undefined {
    return this._nodes.get(name);
  }

  /**
   * The nodes of a line of the user's code, or of the functions that it calls.
   */
  from({ file, line }: ISourcePosition): readonly string[] {
    return this._bySource.get(`${line}:${file}`) ?? [];
  }

  /**
   * The nodes that come from these nodes of Dynamo's graph.
   */
  withOrigins(origins: Iterable<string>): string[] {
    if (this.stage === 'dynamo') {
      return [...origins].filter(name => this._nodes.has(name));
    }
    return [...origins].flatMap(name => this._byOrigin.get(name) ?? []);
  }

  /**
   * The nodes that correspond to a node of another stage.
   *
   * @param origins - The nodes of Dynamo's graph that it comes from.
   */
  partners(
    stage: string,
    name: string,
    origins: readonly string[]
  ): readonly string[] {
    if (stage === 'dynamo') {
      return this.withOrigins([name]);
    }
    // A pass that leaves a node alone leaves it its name; Dynamo's own names
    // mean something else.
    const same = this._nodes.get(name);
    const isSame =
      same !== undefined &&
      this.stage !== 'dynamo' &&
      (same.origins.length === 0 ||
        origins.length === 0 ||
        same.origins.some(origin => origins.includes(origin)));
    return isSame ? [name] : this.withOrigins(origins);
  }

  private _nodes = new Map<string, Node>();
  private _byOrigin = new Map<string, string[]>();
  private _bySource = new Map<string, string[]>();
}

const indexes = new WeakMap<Graph, GraphIndex>();

function append(map: Map<string, string[]>, key: string, name: string): void {
  const list = map.get(key);
  if (!list) {
    map.set(key, [name]);
  } else if (list[list.length - 1] !== name) {
    list.push(name);
  }
}
