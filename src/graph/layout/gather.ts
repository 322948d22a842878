import type { ILayoutGraph } from './types';

/**
 * The items directly inside one open group.
 */
export interface IGathered {
  readonly items: IGatheredItem[];
  readonly edges: IGatheredEdge[];
}

export interface IGatheredItem {
  readonly kind: 'box' | 'in' | 'out';

  /**
   * Node, or group (from the number of nodes on); -1 for a port.
   */
  readonly id: number;

  /**
   * Of a port: the box that can be seen of where the value comes from. -1 for a
   * box.
   */
  readonly source: number;
  readonly place: number;
}

export interface IGatheredEdge {
  readonly from: number;
  readonly to: number;

  /**
   * The box that can be seen of where the value comes from: a node, or a closed
   * group.
   */
  readonly source: number;

  /**
   * How many values it represents.
   */
  count: number;
}

/**
 * How many results a graph may return with an edge to each.
 */
const RESULTS = 8;

/**
 * Sort nodes, groups and edges by the open group that they are drawn in. An edge
 * that leaves groups is drawn in pieces, one in each.
 *
 * @param isShown - Group → 1 if it is open, and all around it are.
 */
export function gather(
  graph: ILayoutGraph,
  isShown: Uint8Array
): Map<number, IGathered> {
  const { groupOf, parents, edges, place, groupPlace } = graph;
  const count = groupOf.length;
  const makers = new Map<number, Maker>();
  for (let group = 0; group < parents.length; group++) {
    if (isShown[group]) {
      makers.set(group, new Maker());
    }
  }
  for (let group = 1; group < parents.length; group++) {
    makers.get(parents[group])?.box(count + group, groupPlace[group]);
  }
  for (let node = 0; node < count; node++) {
    makers.get(groupOf[node])?.box(node, place[node]);
  }
  const depth = new Int32Array(parents.length);
  for (let group = 1; group < parents.length; group++) {
    depth[group] = depth[parents[group]] + 1;
  }
  // Group → the item that can be seen of it: the outermost closed one; -1 if it
  // is open.
  const seen = new Int32Array(parents.length).fill(-1);
  for (let group = 1; group < parents.length; group++) {
    const outer = seen[parents[group]];
    seen[group] = outer >= 0 ? outer : isShown[group] ? -1 : count + group;
  }
  let results = 0;
  for (let i = 1; i < edges.length; i += 2) {
    results += edges[i] === graph.output ? 1 : 0;
  }
  for (let i = 0; i < edges.length; i += 2) {
    const from = edges[i];
    const to = edges[i + 1];
    if (to === graph.output && results > RESULTS) {
      continue;
    }
    // Up on both sides, to the group around both.
    let a = groupOf[from];
    let b = groupOf[to];
    let itemA = from;
    let itemB = to;
    const ups: [number, number][] = [];
    const downs: [number, number][] = [];
    while (a !== b) {
      if (depth[a] >= depth[b]) {
        ups.push([a, itemA]);
        itemA = count + a;
        a = parents[a];
      } else {
        downs.push([b, itemB]);
        itemB = count + b;
        b = parents[b];
      }
    }
    if (!isShown[a]) {
      continue;
    }
    const isOpenA = itemA >= count && isShown[itemA - count] === 1;
    const isOpenB = itemB >= count && isShown[itemB - count] === 1;
    const source = seen[groupOf[from]] < 0 ? from : seen[groupOf[from]];
    makers.get(a)!.edge(itemA, itemB, isOpenA || isOpenB, source, from);
    for (const [group, item] of ups) {
      makers.get(group)?.leave(item, source, from);
    }
    for (const [group, item] of downs) {
      makers.get(group)?.enter(item, source, from);
    }
  }
  return new Map([...makers].map(([group, maker]) => [group, maker.result]));
}

class Maker {
  readonly result: IGathered = { items: [], edges: [] };

  box(id: number, place: number): void {
    this._at.set(`${id}`, this.result.items.length);
    this.result.items.push({ kind: 'box', id, source: -1, place });
  }

  /**
   * @param isOwn - Whether what comes from another source has another edge: at
   * the border of an open group it has another port.
   */
  edge(
    from: number,
    to: number,
    isOwn: boolean,
    source: number,
    value: number
  ): void {
    const a = this._at.get(`${from}`)!;
    const b = this._at.get(`${to}`)!;
    this._add(a, b, source, value, `${a} ${b} ${isOwn ? source : ''}`);
  }

  enter(to: number, source: number, value: number): void {
    const port = this._port('in', source);
    const b = this._at.get(`${to}`)!;
    this._add(port, b, source, value, `${port} ${b}`);
  }

  leave(from: number, source: number, value: number): void {
    const port = this._port('out', source);
    const a = this._at.get(`${from}`)!;
    this._add(a, port, source, value, `${a} ${port}`);
  }

  private _port(kind: 'in' | 'out', source: number): number {
    const key = `${kind}${source}`;
    let port = this._at.get(key);
    if (port === undefined) {
      port = this.result.items.length;
      this._at.set(key, port);
      const place = kind === 'in' ? -Infinity : Infinity;
      this.result.items.push({ kind, id: -1, source, place });
    }
    return port;
  }

  private _add(
    from: number,
    to: number,
    source: number,
    value: number,
    key: string
  ): void {
    const known = this._edges.get(key);
    if (!known) {
      const edge = { from, to, source, count: 1 };
      this._edges.set(key, edge);
      this._values.set(key, value);
      this.result.edges.push(edge);
    } else if (this._values.get(key) !== value) {
      // Edges come by producer, so a value that was counted came just before.
      this._values.set(key, value);
      known.count++;
    }
  }

  private _at = new Map<string, number>();
  private _edges = new Map<string, IGatheredEdge>();
  private _values = new Map<string, number>();
}
