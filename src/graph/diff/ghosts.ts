import type { Node } from '../../protocol/types';
import type { IStageDiff } from './diff';

/**
 * The maximum number of removed nodes that are drawn; the others are only
 * listed.
 */
const MAX_GHOSTS = 400;

/**
 * The prefix of the names of removed nodes.
 */
export const GHOST = 'removed: ';

/**
 * Add the nodes that were removed to a graph, where they can be placed: between
 * what stands in the place of their inputs and users.
 *
 * @returns The nodes in an order of execution; and how many removed ones have no
 * place.
 */
export function withGhosts(
  nodes: readonly Node[],
  diff: IStageDiff
): { nodes: readonly Node[]; unplaced: number } {
  const at = new Map(nodes.map((node, i) => [node.name, i]));
  const after = new Map<number, Node[]>();
  let placed = 0;
  for (const { node, inputs, users } of diff.removed) {
    const known = inputs.filter(name => at.has(name));
    const last = Math.max(-1, ...known.map(name => at.get(name)!));
    const later = users.filter(name => (at.get(name) ?? -1) > last);
    if ((known.length === 0 && later.length === 0) || placed >= MAX_GHOSTS) {
      continue;
    }
    placed++;
    const place =
      known.length > 0 ? last : Math.min(...later.map(n => at.get(n)!)) - 1;
    const ghost = {
      ...node,
      name: GHOST + node.name,
      inputs: known,
      users: later
    };
    after.set(place, [...(after.get(place) ?? []), ghost]);
  }
  if (placed === 0) {
    return { nodes, unplaced: diff.removed.length };
  }
  const fed = new Map<string, string[]>();
  after.forEach(ghosts =>
    ghosts.forEach(ghost =>
      ghost.users.forEach(user =>
        fed.set(user, [...(fed.get(user) ?? []), ghost.name])
      )
    )
  );
  const merged = [...(after.get(-1) ?? [])];
  nodes.forEach((node, i) => {
    const ghosts = fed.get(node.name);
    merged.push(
      ghosts ? { ...node, inputs: [...node.inputs, ...ghosts] } : node
    );
    merged.push(...(after.get(i) ?? []));
  });
  return { nodes: merged, unplaced: diff.removed.length - placed };
}
