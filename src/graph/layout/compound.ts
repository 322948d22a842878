import { flatten } from './flatten';
import type { IGathered } from './gather';
import { gather } from './gather';
import type { IInside } from './inside';
import { layoutLevel } from './level';
import type { ILayout, ILayoutGraph } from './types';
import { SPACING } from './types';

/**
 * Lays out a graph, of which some groups are open. The inside of a group is laid
 * out by itself, once: it is kept until something in it is opened or closed.
 */
export class CompoundLayout {
  constructor(private _graph: ILayoutGraph) {}

  /**
   * @param open - Group → 1 if it is open. A group in a closed one does not
   * count.
   */
  *run(open: ArrayLike<number>): Generator<void, ILayout, void> {
    const { parents } = this._graph;
    const isShown = new Uint8Array(parents.length);
    isShown[0] = 1;
    for (let group = 1; group < parents.length; group++) {
      // A group's number is larger than its parent's.
      isShown[group] = open[group] && isShown[parents[group]] ? 1 : 0;
    }
    const levels = gather(this._graph, isShown);
    const opened = this._signatures(isShown);
    yield;
    for (let group = parents.length - 1; group >= 0; group--) {
      const level = levels.get(group);
      if (!level) {
        continue;
      }
      const signature = `${opened[group]} ${digest(level)}`;
      if (this._known.get(group)?.signature === signature) {
        continue;
      }
      const inside = yield* layoutInside(
        this._graph,
        group,
        level,
        k => this._known.get(k)!.inside,
        isShown
      );
      this._known.set(group, { signature, inside });
    }
    return flatten(this._graph, isShown, k => this._known.get(k)!.inside);
  }

  /**
   * Group → which groups in it are open, as a text.
   */
  private _signatures(isShown: Uint8Array): string[] {
    const { parents } = this._graph;
    const open: string[] = Array.from(parents, () => '');
    for (let group = parents.length - 1; group > 0; group--) {
      if (isShown[group]) {
        open[parents[group]] += `${group}(${open[group]})`;
      }
    }
    return open;
  }

  private _known = new Map<number, { signature: string; inside: IInside }>();
}

/**
 * A number that says what a level is made of: ports and edges change with what
 * is open outside.
 */
function digest({ items, edges }: IGathered): number {
  let sum = items.length;
  const mix = (value: number) => {
    sum = Math.imul(sum ^ value, 0x9e3779b1);
    sum ^= sum >>> 15;
  };
  for (const { id, source } of items) {
    mix(id);
    mix(source);
  }
  for (const { from, to, source, count } of edges) {
    mix(from);
    mix(to);
    mix(source);
    mix(count);
  }
  return sum;
}

/**
 * Lay out one group's inside; the groups open in it are laid out already.
 */
function* layoutInside(
  graph: ILayoutGraph,
  group: number,
  level: IGathered,
  insideOf: (group: number) => IInside,
  isShown: Uint8Array
): Generator<void, IInside, void> {
  const count = graph.groupOf.length;
  const widths: number[] = [];
  const heights: number[] = [];
  for (const { kind, id } of level.items) {
    if (kind !== 'box') {
      widths.push(2);
      heights.push(0);
    } else if (id < count) {
      widths.push(graph.sizes[2 * id]);
      heights.push(graph.sizes[2 * id + 1]);
    } else if (isShown[id - count]) {
      const inside = insideOf(id - count);
      widths.push(inside.width);
      heights.push(inside.height);
    } else {
      widths.push(graph.groupSizes[3 * (id - count)]);
      heights.push(graph.groupSizes[3 * (id - count) + 1]);
    }
  }
  const openAt = (item: number) => {
    const { kind, id } = level.items[item];
    return kind === 'box' && id >= count && isShown[id - count]
      ? insideOf(id - count)
      : null;
  };
  const fanIn = level.items.map(() => 0);
  level.edges.forEach(edge => (fanIn[edge.to] += 1));
  const met = level.items.map(() => 0);
  const edges = level.edges.map(edge => {
    const source = openAt(edge.from);
    const target = openAt(edge.to);
    const nth = met[edge.to]++;
    const width = widths[edge.to];
    return {
      from: edge.from,
      to: edge.to,
      fromX: source?.outs.get(edge.source) ?? widths[edge.from] / 2,
      toX:
        target?.ins.get(edge.source) ?? argumentX(width, nth, fanIn[edge.to]),
      weight: 1,
      isLoose: !target && level.items[edge.to].kind === 'box'
    };
  });
  const placed = yield* layoutLevel({
    widths,
    heights,
    kinds: level.items.map(({ kind }) => ['box', 'in', 'out'].indexOf(kind)),
    places: level.items.map(({ place }) => place),
    edges
  });
  const isRoot = group === 0;
  const pad = isRoot ? 0 : SPACING.pad;
  const head = isRoot ? 0 : SPACING.header;
  const least = isRoot ? 0 : graph.groupSizes[3 * group + 2];
  const width = Math.max(least, placed.width + 2 * pad);
  const left = (width - placed.width) / 2;
  // Edges that come in have their own room below the name.
  const hasIns = level.items.some(({ kind }) => kind === 'in');
  const top = head + (hasIns ? 0 : pad / 2);
  const height = top + placed.height + pad;
  const inside: IInside = {
    items: [],
    x: [],
    y: [],
    width,
    height,
    ins: new Map(),
    outs: new Map(),
    edges: []
  };
  level.items.forEach(({ kind, id, source }, i) => {
    const x = left + placed.x[i];
    if (kind === 'in') {
      inside.ins.set(source, x + 1);
    } else if (kind === 'out') {
      inside.outs.set(source, x + 1);
    } else {
      inside.items.push(id);
      inside.x.push(x);
      inside.y.push(top + placed.y[i]);
    }
  });
  level.edges.forEach((edge, i) => {
    const source = level.items[edge.from];
    const target = level.items[edge.to];
    const route = placed.routes[i];
    const points = route?.map((at, j) => at + (j % 2 === 0 ? left : top));
    if (points && source.kind === 'in') {
      // Straight down through the header.
      points.unshift(points[0], 0);
    }
    if (points && target.kind === 'out') {
      points.push(points[points.length - 2], height);
    }
    inside.edges.push({
      from: source.kind === 'box' ? source.id : -1,
      to: target.kind === 'box' ? target.id : -1 - group,
      source: edge.source,
      count: edge.count,
      points: points ?? null
    });
  });
  return inside;
}

/**
 * Where the nth of a box's edges ends: side by side, in the middle part.
 */
function argumentX(width: number, nth: number, count: number): number {
  if (count <= 1) {
    return width / 2;
  }
  const part = Math.min(width * 0.7, 22 * (count - 1));
  return width / 2 + part * (nth / (count - 1) - 0.5);
}
