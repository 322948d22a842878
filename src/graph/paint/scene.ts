import type { IIndexed } from '../indexed';
import type { ILayout } from '../layout/types';
import type { INodeText } from '../sizes';
import { Grid } from './grid';
import type { IGrouping } from '../grouping/types';

/**
 * A place in the layout.
 */
export interface IBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * A graph that is laid out: what is where.
 */
export class Scene {
  constructor(
    readonly graph: IIndexed,
    readonly grouping: IGrouping,
    readonly texts: readonly INodeText[],
    readonly layout: ILayout
  ) {
    const { items, boxes, starts, points } = layout;
    this._at = new Int32Array(graph.nodes.length + grouping.groups.length).fill(
      -1
    );
    const corners = new Float32Array(boxes.length);
    items.forEach((item, i) => {
      this._at[item] = i;
      corners[4 * i] = boxes[4 * i];
      corners[4 * i + 1] = boxes[4 * i + 1];
      corners[4 * i + 2] = boxes[4 * i] + boxes[4 * i + 2];
      corners[4 * i + 3] = boxes[4 * i + 1] + boxes[4 * i + 3];
    });
    this._boxGrid = new Grid(corners);
    const count = layout.from.length;
    this.edgeBoxes = new Float32Array(4 * count);
    for (let edge = 0; edge < count; edge++) {
      let [left, top, right, bottom] = [
        Infinity,
        Infinity,
        -Infinity,
        -Infinity
      ];
      for (let i = starts[edge]; i < starts[edge + 1]; i += 2) {
        left = Math.min(left, points[i]);
        right = Math.max(right, points[i]);
        top = Math.min(top, points[i + 1]);
        bottom = Math.max(bottom, points[i + 1]);
      }
      this.edgeBoxes.set([left, top, right, bottom], 4 * edge);
    }
    this._edgeGrid = new Grid(this.edgeBoxes);
  }

  /**
   * Left, top, right and bottom of the edges, in turn.
   */
  readonly edgeBoxes: Float32Array;

  /**
   * The number of nodes: from it on, items are groups.
   */
  get nodeCount(): number {
    return this.graph.nodes.length;
  }

  /**
   * Where an item is; null if it is in a closed group, or is the graph itself.
   */
  box(item: number): IBox | null {
    const at = this._at[item] ?? -1;
    if (at < 0) {
      return null;
    }
    const { boxes } = this.layout;
    return {
      x: boxes[4 * at],
      y: boxes[4 * at + 1],
      width: boxes[4 * at + 2],
      height: boxes[4 * at + 3]
    };
  }

  /**
   * What holds all of some items; null if none of them is laid out.
   */
  bounds(items: readonly number[]): IBox | null {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const item of items) {
      const box = this.box(item);
      if (box) {
        left = Math.min(left, box.x);
        top = Math.min(top, box.y);
        right = Math.max(right, box.x + box.width);
        bottom = Math.max(bottom, box.y + box.height);
      }
    }
    return right < left
      ? null
      : { x: left, y: top, width: right - left, height: bottom - top };
  }

  /**
   * Whether an item is a group that is open.
   */
  isOpen(item: number): boolean {
    const group = this.grouping.groups[item - this.nodeCount];
    return (
      group !== undefined &&
      [...group.nodes, ...group.groups.map(k => k + this.nodeCount)].some(
        inner => this._at[inner] >= 0
      )
    );
  }

  /**
   * The item that stands for a node: itself, or the closed group that it is in.
   */
  visibleItem(item: number): number {
    let at = item;
    while (this._at[at] < 0 && this.parent(at) > this.nodeCount) {
      at = this.parent(at);
    }
    return at;
  }

  /**
   * The group around an item, as an item.
   */
  parent(item: number): number {
    const { groupOf, groups } = this.grouping;
    const count = this.nodeCount;
    const group =
      item < count ? groupOf[item] : Math.max(0, groups[item - count].parent);
    return count + group;
  }

  /**
   * Whether an item is another one, or is in it.
   */
  isWithin(item: number, outer: number): boolean {
    for (let at = item; ; at = this.parent(at)) {
      if (at === outer) {
        return true;
      }
      if (at === this.nodeCount) {
        return false;
      }
    }
  }

  /**
   * Items that a rectangle touches, groups before what is in them.
   */
  itemsIn(l: number, t: number, r: number, b: number): number[] {
    return this._boxGrid.find(l, t, r, b).map(i => this.layout.items[i]);
  }

  /**
   * Edges that a rectangle touches.
   */
  edgesIn(l: number, t: number, r: number, b: number): number[] {
    return this._edgeGrid.find(l, t, r, b);
  }

  /**
   * The innermost item at a point; null if there is none.
   */
  itemAt(x: number, y: number): number | null {
    const items = this.itemsIn(x, y, x, y);
    return items.length > 0 ? items[items.length - 1] : null;
  }

  /**
   * The edges that end at an item.
   */
  edgesOf(item: number): readonly number[] {
    if (!this._into) {
      this._into = new Map();
      this.layout.to.forEach((end, edge) => {
        const edges = this._into!.get(end);
        if (edges) {
          edges.push(edge);
        } else {
          this._into!.set(end, [edge]);
        }
      });
    }
    return this._into.get(item) ?? [];
  }

  /**
   * The edges that carry a value to a node, in all groups that it passes.
   */
  edgesBetween(from: number, to: number): number[] {
    if (!this._bySource) {
      this._bySource = new Map();
      this.layout.sources.forEach((source, edge) => {
        const edges = this._bySource!.get(source);
        if (edges) {
          edges.push(edge);
        } else {
          this._bySource!.set(source, [edge]);
        }
      });
    }
    const between: number[] = [];
    for (const edge of this._bySource.get(this.visibleItem(from)) ?? []) {
      const end = this.layout.to[edge];
      const isOn =
        end >= 0
          ? this.isWithin(to, end)
          : !this.isWithin(to, this.nodeCount + (-1 - end));
      if (isOn) {
        between.push(edge);
      }
    }
    return between;
  }

  private _bySource: Map<number, number[]> | null = null;
  private _into: Map<number, number[]> | null = null;
  private _at: Int32Array;
  private _boxGrid: Grid;
  private _edgeGrid: Grid;
}
