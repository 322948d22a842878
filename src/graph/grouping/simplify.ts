import type { IIndexed } from '../indexed';
import type { Basis } from './owners';
import type { IDraft, IGroup, IGrouping } from './types';

/**
 * Leave out groups that would say nothing: of a single node, and those that only
 * hold another group. A group of one kernel stays, it is the kernel.
 */
export function simplify(
  graph: IIndexed,
  drafts: readonly IDraft[],
  groupOf: readonly number[],
  place: Float64Array,
  basis: Basis,
  inferred: number
): IGrouping {
  const size = drafts.map(draft => draft.nodes.length);
  for (let i = drafts.length - 1; i > 0; i--) {
    size[drafts[i].parent] += size[i];
  }
  const least = basis === 'kernel' ? 1 : 2;
  const isKept = drafts.map((draft, i) => {
    const large = draft.groups.filter(inner => size[inner] >= least);
    const isShell = large.length === 1 && size[large[0]] === size[i];
    return i === 0 || (size[i] >= least && !isShell);
  });
  const to = new Array<number>(drafts.length).fill(0);
  const labels = drafts.map(draft => draft.label);
  const groups: IGroup[] = [];
  const starts: number[] = [];
  drafts.forEach((draft, i) => {
    const parent = draft.parent < 0 ? -1 : to[draft.parent];
    if (!isKept[i]) {
      to[i] = parent;
      const only = draft.groups.filter(inner => size[inner] >= least);
      if (size[i] >= least && only.length === 1) {
        labels[only[0]] = `${labels[i]}.${labels[only[0]]}`;
      }
      return;
    }
    to[i] = groups.length;
    starts.push(i === 0 ? 0 : draft.start);
    groups.push({
      id: draft.id,
      label: labels[i],
      type: draft.type,
      parent,
      depth: parent < 0 ? 0 : groups[parent].depth + 1,
      groups: [],
      nodes: [],
      size: size[i]
    });
    if (parent >= 0) {
      (groups[parent].groups as number[]).push(to[i]);
    }
  });
  const owner = groupOf.map(group => to[group]);
  const inOrder = graph.nodes
    .map((_, i) => i)
    .sort((a, b) => place[a] - place[b] || a - b);
  inOrder.forEach(node => (groups[owner[node]].nodes as number[]).push(node));
  return {
    basis,
    groups,
    groupOf: owner,
    place,
    groupPlace: Float64Array.from(starts),
    inferred
  };
}
