import type { IInside } from './inside';
import type { ILayout, ILayoutGraph } from './types';

/**
 * Put the insides of open groups in their places in the whole.
 */
export function flatten(
  graph: ILayoutGraph,
  isShown: Uint8Array,
  insideOf: (group: number) => IInside
): ILayout {
  const count = graph.groupOf.length;
  const items: number[] = [];
  const boxes: number[] = [];
  const starts: number[] = [0];
  const points: number[] = [];
  const from: number[] = [];
  const to: number[] = [];
  const sources: number[] = [];
  const counts: number[] = [];
  const far: number[] = [];
  const add = (group: number, left: number, top: number) => {
    const inside = insideOf(group);
    inside.items.forEach((item, i) => {
      const x = left + inside.x[i];
      const y = top + inside.y[i];
      const inner = item - count;
      items.push(item);
      if (inner < 0) {
        boxes.push(x, y, graph.sizes[2 * item], graph.sizes[2 * item + 1]);
      } else if (isShown[inner]) {
        const { width, height } = insideOf(inner);
        boxes.push(x, y, width, height);
        add(inner, x, y);
      } else {
        const { groupSizes: sizes } = graph;
        boxes.push(x, y, sizes[3 * inner], sizes[3 * inner + 1]);
      }
    });
    for (const edge of inside.edges) {
      if (!edge.points) {
        far.push(edge.from, edge.to);
        continue;
      }
      edge.points.forEach((at, i) => points.push(at + (i % 2 ? top : left)));
      starts.push(points.length);
      from.push(edge.from);
      to.push(edge.to);
      sources.push(edge.source);
      counts.push(edge.count);
    }
  };
  add(0, 0, 0);
  const { width, height } = insideOf(0);
  return {
    items: Int32Array.from(items),
    boxes: Float32Array.from(boxes),
    starts: Uint32Array.from(starts),
    points: Float32Array.from(points),
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    sources: Int32Array.from(sources),
    counts: Int32Array.from(counts),
    far: Int32Array.from(far),
    width,
    height
  };
}
