import type { IFusion } from '../kernels';
import { shorten } from '../labels';
import { BOX } from '../sizes';
import type { IPen } from './pen';
import type { IPicture } from './picture';
import { groupFill } from './theme';

const PAD = 6;

/**
 * Around the nodes that became one kernel: a skin about each of them and about
 * the edges between them, so that it never takes in a node that is not part of
 * it.
 *
 * @param nodes - Nodes that can be seen.
 * @param edges - Edges that can be seen.
 */
export function paintHulls(
  pen: IPen,
  picture: IPicture,
  nodes: readonly number[],
  edges: readonly number[]
): void {
  const { scene, fusions, theme } = picture;
  const { layout } = scene;
  const hullOf = hullsByNode(fusions);
  const seen = new Map<IFusion, { inside: number[]; ranges: number[] }>();
  const at = (fusion: IFusion) => {
    const extent = seen.get(fusion) ?? { inside: [], ranges: [] };
    seen.set(fusion, extent);
    return extent;
  };
  for (const node of nodes) {
    const fusion = hullOf.get(node);
    if (fusion) {
      at(fusion).inside.push(node);
    }
  }
  for (const edge of edges) {
    const fusion = hullOf.get(layout.from[edge]);
    if (fusion && hullOf.get(layout.to[edge]) === fusion) {
      at(fusion).ranges.push(layout.starts[edge], layout.starts[edge + 1]);
    }
  }
  for (const [fusion, { inside, ranges }] of seen) {
    const color = colorOf(picture, fusion);
    const border = theme.mix(color, theme.background, 0.5);
    const fill = theme.mix(color, theme.background, 0.18);
    // First what will be the border, a little larger, then the skin on it.
    for (const [color, more] of [
      [border, 1.3],
      [fill, 0]
    ] as const) {
      if (ranges.length > 0) {
        pen.curves(layout.points, ranges, { color, width: 14 + 2 * more });
      }
      for (const node of inside) {
        const { x, y, width, height } = scene.box(node)!;
        const pad = PAD + more;
        pen.rect(x - pad, y - pad, width + 2 * pad, height + 2 * pad, 9, color);
      }
    }
  }
}

/**
 * The kernels' names, each above the first of its nodes. The edges into that
 * node pass there: they come first.
 *
 * @param nodes - Nodes that can be seen.
 */
export function paintHullNames(
  pen: IPen,
  picture: IPicture,
  nodes: readonly number[]
): void {
  const { scene, fusions, theme } = picture;
  const hullOf = hullsByNode(fusions);
  for (const top of nodes) {
    const fusion = hullOf.get(top);
    if (!fusion || topmost(picture, fusion.drawn) !== top) {
      continue;
    }
    const { x, y, width } = scene.box(top)!;
    const letter = 0.78 * BOX.letter;
    const letters = Math.floor((width + 40) / letter);
    const name = shorten(fusion.kernel.name, Math.max(12, letters));
    // At the right edge it begins further left: beyond the graph nothing is in sight.
    const last = scene.layout.width - name.length * letter;
    pen.text(name, Math.min(x - PAD + 2, Math.max(0, last)), y - PAD - 5, {
      color: theme.mix(colorOf(picture, fusion), theme.text, 0.55),
      halo: backgroundOf(picture, top),
      size: 9.4,
      family: theme.mono,
      weight: 600
    });
  }
}

function colorOf({ coloring, theme }: IPicture, fusion: IFusion): string {
  const swatch = coloring.swatches[coloring.of[fusion.drawn[0]]];
  return theme.colors[swatch?.color ?? -1] ?? theme.muted;
}

/**
 * The color of what a node stands on.
 */
function backgroundOf({ scene, theme }: IPicture, node: number): string {
  const group = scene.parent(node);
  return scene.box(group)
    ? groupFill(theme, scene.grouping.groups[group - scene.nodeCount].depth)
    : theme.background;
}

const byFusions = new WeakMap<readonly IFusion[], Map<number, IFusion>>();

/**
 * Node → the hull that it is in.
 */
function hullsByNode(fusions: readonly IFusion[]): Map<number, IFusion> {
  let known = byFusions.get(fusions);
  if (!known) {
    known = new Map();
    for (const fusion of fusions) {
      for (const node of fusion.drawn) {
        known.set(node, fusion);
      }
    }
    byFusions.set(fusions, known);
  }
  return known;
}

/**
 * The node that stands on top of others, of those that can be seen.
 */
function topmost(
  { scene }: IPicture,
  nodes: readonly number[]
): number | undefined {
  let top: number | undefined;
  let least = Infinity;
  for (const node of nodes) {
    const y = scene.box(node)?.y ?? Infinity;
    if (y < least) {
      least = y;
      top = node;
    }
  }
  return top;
}
