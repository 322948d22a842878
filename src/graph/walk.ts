import type { Scene } from './paint/scene';

/**
 * A direction to move from an item: to its inputs, to its users, or along its
 * row.
 */
export type Direction = 'inputs' | 'users' | 'before' | 'after';

/**
 * The item that a step leads to; null if there is none.
 *
 * A step into an open group enters it. Of several, the nearest is taken.
 */
export function walk(
  scene: Scene,
  item: number,
  direction: Direction
): number | null {
  const box = scene.box(item);
  if (!box) {
    return null;
  }
  const middle = box.x + box.width / 2;
  const candidates =
    direction === 'inputs' || direction === 'users'
      ? neighbors(scene, item, direction)
      : adjacent(scene, item, direction === 'after');
  let best: number | null = null;
  let least = Infinity;
  for (const candidate of candidates) {
    const other = scene.box(candidate);
    if (!other || candidate === item) {
      continue;
    }
    const dx = Math.abs(other.x + other.width / 2 - middle);
    const dy = Math.abs(other.y - box.y);
    const far =
      direction === 'inputs' || direction === 'users' ? dx : dy * 4 + dx;
    if (far < least) {
      least = far;
      best = candidate;
    }
  }
  return best;
}

/**
 * The items that an item takes values from, or gives values to.
 */
function neighbors(
  scene: Scene,
  item: number,
  direction: 'inputs' | 'users'
): number[] {
  const { graph, nodeCount } = scene;
  if (direction === 'users' && item >= nodeCount && scene.isOpen(item)) {
    const { nodes, groups } = scene.grouping.groups[item - nodeCount];
    const inner = [...nodes, ...groups.map(group => group + nodeCount)];
    const top = (inside: number) => scene.box(inside)?.y ?? Infinity;
    return inner.sort((a, b) => top(a) - top(b)).slice(0, 1);
  }
  const around = new Set<number>();
  for (const node of nodesIn(scene, item)) {
    for (const near of graph[direction][node]) {
      if (item < nodeCount || !scene.isWithin(near, item)) {
        around.add(scene.visibleItem(near));
      }
    }
  }
  return [...around];
}

/**
 * The nodes of an item: itself, or all in a group.
 */
function nodesIn(scene: Scene, item: number): number[] {
  if (item < scene.nodeCount) {
    return [item];
  }
  const { groups } = scene.grouping;
  const nodes: number[] = [];
  const stack = [item - scene.nodeCount];
  while (stack.length > 0) {
    const group = groups[stack.pop()!];
    nodes.push(...group.nodes);
    stack.push(...group.groups);
  }
  return nodes;
}

function adjacent(scene: Scene, item: number, isAfter: boolean): number[] {
  const parent = scene.parent(item);
  const box = scene.box(item)!;
  const { nodes, groups } = scene.grouping.groups[parent - scene.nodeCount];
  return [...nodes, ...groups.map(group => group + scene.nodeCount)].filter(
    sibling => {
      const other = scene.box(sibling);
      return (
        other !== null &&
        sibling !== item &&
        other.y < box.y + box.height &&
        other.y + other.height > box.y &&
        (isAfter ? other.x > box.x : other.x < box.x)
      );
    }
  );
}
