import type { IPen } from '../../../graph/paint/pen';
import type { Scene } from '../../../graph/paint/scene';
import type { IPicture } from '../../../graph/paint/picture';

/**
 * The highlights of a picture.
 */
export interface IMarks {
  /**
   * The item that has the keyboard focus.
   */
  readonly focus: number | null;

  /**
   * Whether the graph has the keyboard focus.
   */
  readonly isFocused: boolean;

  /**
   * Nodes that belong to the selection.
   */
  readonly lit: ReadonlySet<number>;

  /**
   * The results of a search, and the current one.
   */
  readonly hits: readonly number[];
  readonly hit: number | null;
}

export const NO_MARKS: IMarks = {
  focus: null,
  isFocused: false,
  lit: new Set(),
  hits: [],
  hit: null
};

/**
 * Paints the highlights over the picture.
 */
export function paintOverlay(
  pen: IPen,
  { scene, theme }: IPicture,
  marks: IMarks,
  trace: ITrace,
  scale: number
): void {
  const thick = 1 / Math.min(1, scale);
  const ring = (item: number, color: string, width: number, pad: number) => {
    const box = scene.box(item);
    if (box) {
      pen.rect(
        box.x - pad,
        box.y - pad,
        box.width + 2 * pad,
        box.height + 2 * pad,
        6,
        null,
        { color, width: width * thick }
      );
    }
  };
  const seen = (nodes: Iterable<number>) =>
    new Set([...nodes].map(node => scene.visibleItem(node)));
  seen(marks.hits).forEach(item => ring(item, theme.hit, 2, 2));
  if (marks.hit !== null) {
    ring(scene.visibleItem(marks.hit), theme.hit, 3.5, 4);
  }
  seen(marks.lit).forEach(item => ring(item, theme.brand, 2, 1));
  const { focus } = marks;
  if (focus === null) {
    return;
  }
  const stroke = { color: theme.brand, width: 2.2 * thick };
  pen.curves(scene.layout.points, trace.ranges, stroke);
  pen.curves(trace.direct, trace.pairs, {
    ...stroke,
    dash: [6 * thick, 5 * thick]
  });
  ring(
    focus,
    theme.brand,
    marks.isFocused ? 3.5 : 2.5,
    marks.isFocused ? 3 : 1
  );
}

/**
 * The edges of the current node.
 */
export interface ITrace {
  /**
   * Pairs: where each edge's points begin and end in the layout.
   */
  readonly ranges: readonly number[];

  /**
   * Edges that are too long for the layout, with separate points and their
   * ranges.
   */
  readonly direct: readonly number[];
  readonly pairs: readonly number[];
}

export const NO_TRACE: ITrace = { ranges: [], direct: [], pairs: [] };

/**
 * Finds the edges to and from a node.
 */
export function traceEdges(scene: Scene, focus: number | null): ITrace {
  if (focus === null || focus >= scene.nodeCount) {
    return NO_TRACE;
  }
  const { starts } = scene.layout;
  const ranges: number[] = [];
  const direct: number[] = [];
  const pairs: number[] = [];
  const link = (a: number, b: number) => {
    const edges = scene.edgesBetween(a, b);
    edges.forEach(edge => ranges.push(starts[edge], starts[edge + 1]));
    const from = scene.box(scene.visibleItem(a));
    const to = scene.box(scene.visibleItem(b));
    if (edges.length === 0 && from && to && from !== to) {
      pairs.push(direct.length, direct.length + 4);
      direct.push(from.x + from.width / 2, from.y + from.height);
      direct.push(to.x + to.width / 2, to.y);
    }
  };
  scene.graph.inputs[focus].forEach(input => link(input, focus));
  scene.graph.users[focus].forEach(user => link(focus, user));
  return { ranges, direct, pairs };
}
