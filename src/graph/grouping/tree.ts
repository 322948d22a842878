import type { IIndexed } from '../indexed';
import { roleOf } from '../roles';
import { localOrder } from './order';
import type { Basis, IOwners } from './owners';
import { ownersOf } from './owners';
import { lastPart } from './paths';
import { placeFree } from './place';
import { simplify } from './simplify';
import { IGrouping, IDraft } from './types';

/**
 * Group the nodes of a graph.
 *
 * A group is a run of nodes in an order of execution. A module that is called
 * twice, with others in between, becomes two groups.
 */
export function groupNodes(
  graph: IIndexed,
  stage: string,
  basis: Basis,
  kernelOf: ReadonlyMap<number, string> = new Map()
): IGrouping {
  const owners = ownersOf(graph, basis, stage, kernelOf);
  const trie = pathTrie(owners);
  const roles = graph.nodes.map(node => roleOf(node, stage));
  const isAnchored = anchored(graph, roles);
  const order = localOrder(
    graph,
    graph.nodes.map((_, i) => isAnchored[i] && roles[i] === null),
    trie.leaf,
    trie.parents
  );
  const drafts = runs(graph, order, trie, owners);
  const groupOf = new Array<number>(graph.nodes.length).fill(0);
  const place = new Float64Array(graph.nodes.length);
  order.forEach((node, at) => (place[node] = at));
  drafts.forEach((draft, i) => draft.nodes.forEach(n => (groupOf[n] = i)));
  placeFree({
    graph,
    drafts,
    groupOf,
    place,
    isPlaced: isAnchored.map((is, i) => is && roles[i] === null),
    isInput: roles.map(role => role === 'input'),
    leaf: trie.leaf,
    parents: trie.parents
  });
  return simplify(graph, drafts, groupOf, place, basis, owners.inferred);
}

/**
 * Which nodes depend on what the call is given. The others only turn parameters
 * about, or make constants, and stand wherever they are needed.
 */
function anchored(
  graph: IIndexed,
  roles: readonly (string | null)[]
): boolean[] {
  const is: boolean[] = [];
  let count = 0;
  graph.nodes.forEach((_, i) => {
    is[i] =
      roles[i] === 'input' ||
      roles[i] === 'unknown' ||
      graph.inputs[i].some(input => is[input]);
    count += is[i] && roles[i] === null ? 1 : 0;
  });
  // A graph without inputs computes something, too.
  return count > 1 ? is : graph.nodes.map(() => true);
}

interface ITrie {
  leaf: number[];
  parents: number[];
  names: string[];
  keys: string[];
}

function pathTrie(owners: IOwners): ITrie {
  const trie: ITrie = { leaf: [], parents: [0], names: [''], keys: [''] };
  const known = new Map<string, number>([['', 0]]);
  for (const path of owners.paths) {
    let at = 0;
    let key = '';
    for (const name of path) {
      key = key ? `${key}/${name}` : name;
      let next = known.get(key);
      if (next === undefined) {
        next = trie.parents.length;
        known.set(key, next);
        trie.parents.push(at);
        trie.names.push(name);
        trie.keys.push(key);
      }
      at = next;
    }
    trie.leaf.push(at);
  }
  return trie;
}

/**
 * Walk along the order; where it enters a path, a group begins, where it leaves
 * it, the group ends.
 */
function runs(
  graph: IIndexed,
  order: readonly number[],
  trie: ITrie,
  owners: IOwners
): IDraft[] {
  const root: IDraft = {
    id: '',
    label: '',
    type: '',
    parent: -1,
    depth: 0,
    path: 0,
    start: -Infinity,
    end: Infinity,
    nodes: [],
    groups: []
  };
  const drafts = [root];
  const times = new Map<string, number>();
  let current = 0;
  order.forEach((node, at) => {
    const groupPaths: number[] = [];
    for (let path = trie.leaf[node]; path !== 0; path = trie.parents[path]) {
      groupPaths.unshift(path);
    }
    while (groupPaths[drafts[current].depth - 1] !== drafts[current].path) {
      if (current === 0) {
        break;
      }
      drafts[current].end = at;
      current = drafts[current].parent;
    }
    for (
      let depth = drafts[current].depth;
      depth < groupPaths.length;
      depth++
    ) {
      const path = groupPaths[depth];
      const key = trie.keys[path];
      const time = (times.get(`${drafts[current].id}|${key}`) ?? 0) + 1;
      times.set(`${drafts[current].id}|${key}`, time);
      const name = trie.names[path] + (time > 1 ? `#${time}` : '');
      drafts.push({
        id: current === 0 ? name : `${drafts[current].id}/${name}`,
        label: trie.names[path] + (time > 1 ? ` (${time})` : ''),
        type: lastPart(owners.types.get(key) ?? ''),
        parent: current,
        depth: depth + 1,
        path,
        // An inner group that begins with the same node begins after it.
        start: at - 1 / (depth + 2),
        end: Infinity,
        nodes: [],
        groups: []
      });
      drafts[current].groups.push(drafts.length - 1);
      current = drafts.length - 1;
    }
    drafts[current].nodes.push(node);
  });
  return drafts;
}
