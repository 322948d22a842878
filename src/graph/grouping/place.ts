import type { IIndexed } from '../indexed';
import type { IDraft } from './types';

/**
 * Put the nodes that hang on nothing (parameters, what is computed from them
 * alone, what was kept for a backward) in the groups that use them.
 *
 * A node goes in its own module's group if that begins before the value is
 * needed, else in the innermost group around all that use it. So no group comes
 * to depend on a later one. What the call is given stays outside.
 */
export function placeFree(options: {
  graph: IIndexed;
  drafts: IDraft[];
  groupOf: number[];
  place: Float64Array;
  isPlaced: readonly boolean[];
  isInput: readonly boolean[];
  leaf: readonly number[];
  parents: readonly number[];
}): void {
  const { graph, drafts, groupOf, place, isPlaced, isInput } = options;
  const byPath = new Map<number, number[]>();
  drafts.forEach((draft, i) =>
    byPath.set(draft.path, [...(byPath.get(draft.path) ?? []), i])
  );
  const last = graph.nodes.length;
  for (let node = last - 1; node >= 0; node--) {
    if (isPlaced[node]) {
      continue;
    }
    const users = graph.users[node];
    let group = 0;
    if (isInput[node]) {
      place[node] = -1e6 + node;
    } else if (users.length === 0) {
      place[node] = graph.nodes[node].op === 'output' ? 2 * last : -1;
    } else {
      const first = Math.min(...users.map(user => place[user]));
      group =
        ownGroup(drafts, byPath, options, node, first) ??
        users.map(user => groupOf[user]).reduce((a, b) => common(drafts, a, b));
      const needed = users.map(user =>
        placeWithin(drafts, groupOf, place, group, user)
      );
      place[node] = Math.min(...needed) - 1e-7;
    }
    groupOf[node] = group;
    drafts[group].nodes.push(node);
  }
}

/**
 * The group of the node's own module that begins before a place, or of the
 * module around it; undefined if the node names none, or it comes too late.
 */
function ownGroup(
  drafts: readonly IDraft[],
  byPath: ReadonlyMap<number, readonly number[]>,
  options: { leaf: readonly number[]; parents: readonly number[] },
  node: number,
  before: number
): number | undefined {
  for (
    let path = options.leaf[node];
    path !== 0;
    path = options.parents[path]
  ) {
    const groups = byPath.get(path)?.filter(i => drafts[i].start <= before);
    if (groups?.length) {
      return groups[groups.length - 1];
    }
  }
  return undefined;
}

/**
 * The place of a node as a group sees it: of the inner group that it is in.
 */
function placeWithin(
  drafts: readonly IDraft[],
  groupOf: readonly number[],
  place: Float64Array,
  group: number,
  node: number
): number {
  let at = groupOf[node];
  if (at === group) {
    return place[node];
  }
  while (at > 0 && drafts[at].parent !== group) {
    at = drafts[at].parent;
  }
  // Somewhere else: all that matters is that it comes after this group.
  return at > 0 ? drafts[at].start : drafts[group].end;
}

function common(drafts: readonly IDraft[], a: number, b: number): number {
  while (a !== b) {
    if (drafts[a].depth >= drafts[b].depth) {
      a = drafts[a].parent;
    } else {
      b = drafts[b].parent;
    }
  }
  return a;
}
