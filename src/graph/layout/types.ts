/**
 * The input of the layout, which can be posted to a worker.
 */
export interface ILayoutGraph {
  /**
   * Node → width and height of its box, in turn, in pixels.
   */
  readonly sizes: Float32Array;

  /**
   * Pairs of nodes: producer, consumer; a consumer's in the order of its
   * arguments.
   */
  readonly edges: Int32Array;

  /**
   * Node → its group. Group 0 is the graph itself.
   */
  readonly groupOf: Int32Array;

  /**
   * Group → the group that it is in; -1 for group 0.
   */
  readonly parents: Int32Array;

  /**
   * Group → width and height while it is closed, and its least width while it is
   * open.
   */
  readonly groupSizes: Float32Array;

  /**
   * Places in the order of execution, which no edge goes against.
   */
  readonly place: Float64Array;
  readonly groupPlace: Float64Array;

  /**
   * The node that returns the graph's results; -1 if there is none.
   */
  readonly output: number;
}

/**
 * The positions of all visible items. Items are numbered: a node by its number,
 * group `k` by the number of nodes plus `k`.
 */
export interface ILayout {
  /**
   * Items, groups before what is in them.
   */
  readonly items: Int32Array;

  /**
   * Left, top, width and height of the items, in turn.
   */
  readonly boxes: Float32Array;

  /**
   * Edge → where its points begin in `points`; one more than there are edges.
   */
  readonly starts: Uint32Array;

  /**
   * The points of all edges: x and y in turn.
   */
  readonly points: Float32Array;

  /**
   * Edge → the item that it begins at, -1 on the border of an open group.
   */
  readonly from: Int32Array;

  /**
   * Edge → the item that it ends at; -1 - group for the lower border of an open
   * group.
   */
  readonly to: Int32Array;

  /**
   * Edge → the item that can be seen of where its values come from.
   */
  readonly sources: Int32Array;

  /**
   * Edge → how many values it stands for.
   */
  readonly counts: Int32Array;

  /**
   * Pairs of items with edges that are too long to draw.
   */
  readonly far: Int32Array;
  readonly width: number;
  readonly height: number;
}

export const SPACING = {
  /**
   * Between the boxes of one rank.
   */
  box: 22,

  /**
   * Between edges that run beside each other.
   */
  edge: 9,

  /**
   * Between ranks, at least.
   */
  rank: 26,

  /**
   * Around what is in an open group.
   */
  pad: 14,

  /**
   * The name of an open group.
   */
  header: 26
};

/**
 * What is put on one level: nodes, groups (open ones with their size), and the
 * ports at the border of the group whose inside it is.
 */
export interface ILevel {
  readonly widths: number[];
  readonly heights: number[];

  /**
   * 0: a box; 1: a port in the upper border; 2: one in the lower.
   */
  readonly kinds: number[];

  /**
   * Places in an order that edges follow.
   */
  readonly places: number[];
  readonly edges: ILevelEdge[];
}

/**
 * An edge, with where it is tied to the boxes, from their left sides.
 */
export interface ILevelEdge {
  readonly from: number;
  readonly to: number;
  readonly fromX: number;
  readonly toX: number;
  readonly weight: number;

  /**
   * Whether it may be tied to the target elsewhere, so that edges do not cross
   * right above it.
   */
  readonly isLoose: boolean;
}
