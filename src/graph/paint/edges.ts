import type { IPen } from './pen';
import type { IPicture } from './picture';
import { DETAIL } from './picture';

/**
 * Paint edges, with heads where they end at a box, and how many values they
 * stand for where that is more than one.
 */
export function paintEdges(
  pen: IPen,
  { scene, theme }: IPicture,
  edges: readonly number[],
  scale: number
): void {
  const { layout, edgeBoxes } = scene;
  const { points, starts, counts, to } = layout;
  // At the border of an open group an edge goes on.
  const isOpen = (item: number) =>
    item >= scene.nodeCount && scene.isOpen(item);
  const thin: number[] = [];
  const thick: number[] = [];
  const tips: number[] = [];
  for (const edge of edges) {
    if (scale < DETAIL.edge * 2) {
      const wide = edgeBoxes[4 * edge + 2] - edgeBoxes[4 * edge];
      const tall = edgeBoxes[4 * edge + 3] - edgeBoxes[4 * edge + 1];
      if (Math.max(wide, tall) * scale < 5) {
        continue;
      }
    }
    (counts[edge] > 1 ? thick : thin).push(starts[edge], starts[edge + 1]);
    if (to[edge] >= 0 && !isOpen(to[edge])) {
      tips.push(points[starts[edge + 1] - 2], points[starts[edge + 1] - 1]);
    }
  }
  const base = scale < 0.5 ? 0.6 / Math.max(scale, 0.02) : 1.2;
  const color = theme.edge;
  pen.curves(points, thin, { color, width: Math.min(base, 18) });
  pen.curves(points, thick, {
    color,
    width: Math.min(base * 2, 26)
  });
  if (scale >= DETAIL.name) {
    pen.heads(tips, 6, color);
  }
  if (scale >= DETAIL.text) {
    for (const edge of edges) {
      if (counts[edge] > 1 && to[edge] >= 0) {
        const end = starts[edge + 1];
        pen.text(`${counts[edge]}`, points[end - 2] + 5, points[end - 1] - 19, {
          color: theme.muted,
          size: 10,
          family: theme.mono
        });
      }
    }
  }
}
