import { GHOST } from '../diff/ghosts';
import { shorten } from '../labels';
import { SPACING } from '../layout/types';
import { BOX, groupText } from '../sizes';
import { paintEdges } from './edges';
import { paintHulls, paintHullNames } from './hulls';
import type { IPen } from './pen';
import { IPicture, DETAIL } from './picture';
import type { IBox } from './scene';
import { groupFill } from './theme';

/**
 * Paint the part of a picture that a rectangle touches.
 *
 * @param scale - Pixels of the screen for one of the layout; decides about
 * details.
 */
export function paint(
  pen: IPen,
  picture: IPicture,
  { x, y, width, height }: IBox,
  scale: number
): void {
  const { scene } = picture;
  const margin = 24;
  const items = scene.itemsIn(
    x - margin,
    y - margin,
    x + width + margin,
    y + height + margin
  );
  const isGroup = (item: number) => item >= scene.nodeCount;
  const open = items.filter(item => isGroup(item) && scene.isOpen(item));
  for (const item of open) {
    paintOpenGroup(pen, picture, item, scale);
  }
  const nodes = items.filter(item => !isGroup(item));
  const edges = scene.edgesIn(
    x - margin,
    y - margin,
    x + width + margin,
    y + height + margin
  );
  if (picture.fusions.length > 0 && scale >= DETAIL.box) {
    paintHulls(pen, picture, nodes, edges);
  }
  paintEdges(pen, picture, edges, scale);
  if (scale >= DETAIL.text) {
    paintHullNames(pen, picture, nodes);
  }
  if (scale < DETAIL.box) {
    paintSpecks(pen, picture, nodes);
  } else {
    nodes.forEach(node => paintNode(pen, picture, node, scale));
  }
  for (const item of items) {
    if (isGroup(item) && !scene.isOpen(item)) {
      paintClosedGroup(pen, picture, item, scale);
    }
  }
  if (scale >= DETAIL.name) {
    open.forEach(item => paintGroupName(pen, picture, item));
  }
}

/**
 * The color of a node's swatch; null if it has none.
 */
function swatchColor(
  { coloring, theme }: IPicture,
  swatch: number
): string | null {
  const color = coloring.swatches[swatch]?.color ?? -1;
  return color < 0 ? null : theme.colors[color];
}

function paintNode(
  pen: IPen,
  picture: IPicture,
  node: number,
  scale: number
): void {
  const { scene, theme, coloring } = picture;
  const { x, y, width, height } = scene.box(node)!;
  const { op, name: fullName } = scene.graph.nodes[node];
  const isGhost = fullName.startsWith(GHOST);
  const isPlain = !scene.texts[node].target;
  const swatch = coloring.swatches[coloring.of[node]];
  const color = swatchColor(picture, coloring.of[node]);
  const fill = color ? theme.mix(color, theme.box, 0.1) : theme.box;
  pen.rect(x, y, width, height, isPlain ? height / 2 : 4, fill, {
    color: color ? theme.mix(color, theme.border, 0.55) : theme.border,
    width: 1,
    dash: isGhost ? [4, 3] : undefined
  });
  if (color && !isPlain) {
    paintBar(pen, x, y, height, color, swatch?.shape ?? 0);
  }
  if (scale < DETAIL.name) {
    return;
  }
  const { name, target, shape } = scene.texts[node];
  const left = x + BOX.padding + BOX.bar - (isPlain ? 2 : 1);
  const right = x + width - BOX.padding;
  const text = isGhost ? theme.muted : theme.text;
  const small = { color: theme.muted, size: 10.2, family: theme.mono };
  if (isPlain) {
    const style = { color: text, size: 11.5, family: theme.mono };
    const isBold = op === 'output';
    pen.text(name, left, y + 16, { ...style, weight: isBold ? 600 : 400 });
    if (scale >= DETAIL.text && shape) {
      pen.text(shape, right, y + 16, { ...small, anchor: 'end' });
    }
    return;
  }
  const below = scale >= DETAIL.text;
  pen.text(name, left, y + (below ? 16 : 24), {
    color: text,
    size: 12,
    family: theme.mono,
    weight: 600
  });
  if (swatch?.sign) {
    pen.text(swatch.sign, right, y + 16, {
      color: color ?? theme.text,
      size: 13,
      family: theme.mono,
      weight: 700,
      anchor: 'end'
    });
  }
  if (below) {
    pen.text(target, left, y + 30, small);
    if (shape) {
      pen.text(shape, right, y + 30, { ...small, anchor: 'end' });
    }
  }
}

/**
 * The bar at a node's left side: color and shape say which swatch.
 */
function paintBar(
  pen: IPen,
  x: number,
  y: number,
  height: number,
  color: string,
  shape: number
): void {
  const top = y + 4;
  const tall = height - 8;
  const left = x + 3.5;
  if (shape === 0) {
    pen.rect(left, top, 4, tall, 0, color);
  } else if (shape === 1) {
    pen.rect(left, top, 1.5, tall, 0, color);
    pen.rect(left + 2.8, top, 1.5, tall, 0, color);
  } else {
    const part = shape === 2 ? 7 : 3.4;
    const gap = shape === 2 ? 4.5 : 3.2;
    for (let at = 0; at < tall - 0.5; at += part + gap) {
      pen.rect(left, top + at, 4, Math.min(part, tall - at), 0, color);
    }
  }
}

/**
 * Paints nodes that are no larger than a dot, one color at a time.
 */
function paintSpecks(
  pen: IPen,
  picture: IPicture,
  nodes: readonly number[]
): void {
  const { scene, theme } = picture;
  for (const node of nodes) {
    const { x, y, width, height } = scene.box(node)!;
    const color = swatchColor(picture, picture.coloring.of[node]);
    pen.rect(x, y, width, height, 0, color ?? theme.edge);
  }
}

function paintOpenGroup(
  pen: IPen,
  { scene, theme }: IPicture,
  item: number,
  scale: number
): void {
  const { x, y, width, height } = scene.box(item)!;
  const { depth } = scene.grouping.groups[item - scene.nodeCount];
  const fill = groupFill(theme, depth);
  pen.rect(x, y, width, height, scale < DETAIL.box ? 0 : 6, fill, {
    color: theme.border,
    width: Math.min(4, 1 / Math.min(1, 2 * scale))
  });
}

function paintGroupName(
  pen: IPen,
  { scene, theme }: IPicture,
  item: number
): void {
  const { x, y, width } = scene.box(item)!;
  const group = scene.grouping.groups[item - scene.nodeCount];
  const label = shorten(group.label, BOX.nameLength);
  const type = shorten(group.type, 24);
  const letters = label.length + (type ? 0.85 * (type.length + 1) : 0) + 2;
  // Edges that come in pass below the name.
  pen.rect(
    x + 3,
    y + 3,
    Math.min(width - 6, letters * BOX.letter + 10),
    SPACING.header - 6,
    4,
    theme.fills[(group.depth + 1) % 2]
  );
  pen.text('▾', x + 8, y + 18, {
    color: theme.muted,
    size: 12,
    family: theme.font
  });
  const style = { family: theme.mono, color: theme.text, size: 12 };
  pen.text(label, x + 22, y + 18, { ...style, weight: 600 });
  pen.text(type, x + 22 + (label.length + 1) * BOX.letter, y + 18, {
    ...style,
    color: theme.muted,
    size: 10.2
  });
}

function paintClosedGroup(
  pen: IPen,
  picture: IPicture,
  item: number,
  scale: number
): void {
  const { scene, theme } = picture;
  const { x, y, width, height } = scene.box(item)!;
  const group = scene.grouping.groups[item - scene.nodeCount];
  const stroke = { color: theme.border, width: 1 };
  if (scale >= DETAIL.box) {
    // A card with others below it: there is something inside.
    pen.rect(x + 4, y + 4, width, height, 6, theme.fills[0], stroke);
  }
  pen.rect(x, y, width, height, scale < DETAIL.box ? 0 : 6, theme.box, {
    color: theme.muted,
    width: 1
  });
  let left = x + 1;
  const strip = scale < DETAIL.name ? height - 2 : 5;
  for (const [swatch, share] of picture.shares(item - scene.nodeCount)) {
    const part = share * (width - 2);
    const color = swatchColor(picture, swatch);
    if (color) {
      const tint = scale < DETAIL.name ? 0.5 : 1;
      const fill = theme.mix(color, theme.box, tint);
      pen.rect(left, y + height - strip - 1, part, strip, 0, fill);
    }
    left += part;
  }
  if (scale < DETAIL.name) {
    return;
  }
  const style = { family: theme.mono, color: theme.text, size: 12 };
  pen.text('▸', x + 9, y + 17, {
    ...style,
    family: theme.font,
    color: theme.muted
  });
  pen.text(shorten(group.label, BOX.nameLength), x + 23, y + 17, {
    ...style,
    weight: 600
  });
  if (scale >= DETAIL.text) {
    pen.text(
      groupText(group.type, picture.sizeText(group.size)),
      x + 23,
      y + 32,
      {
        ...style,
        color: theme.muted,
        size: 10.2
      }
    );
  }
}
