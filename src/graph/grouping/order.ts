import type { IIndexed } from '../indexed';
import { Heap } from './heap';

/**
 * An order of execution in which the nodes of a module stand together as far as
 * what they depend on allows.
 *
 * torch's passes move nodes about. A group is to be a run of nodes without
 * another group's in between: then groups never depend on each other in a
 * circle, and can be drawn from top to bottom.
 *
 * @param isPlaced - Node → whether it is put in order. The others depend on none
 * of these.
 * @param leaf - Node → number of the path it asks for.
 * @param parents - Path → the path that it is in; the outermost is 0, its own
 * parent.
 */
export function localOrder(
  graph: IIndexed,
  isPlaced: readonly boolean[],
  leaf: readonly number[],
  parents: readonly number[]
): number[] {
  const waiting = graph.inputs.map(
    inputs => inputs.filter(input => isPlaced[input]).length
  );
  // A node that is ready waits at its path and at all around it.
  const ready = parents.map(() => new Heap());
  const isDone = new Uint8Array(graph.nodes.length);
  const add = (node: number) => {
    let path = leaf[node];
    ready[path].push(node);
    while (path !== 0) {
      path = parents[path];
      ready[path].push(node);
    }
  };
  let left = 0;
  graph.nodes.forEach((_, i) => {
    if (isPlaced[i]) {
      left++;
      if (waiting[i] === 0) {
        add(i);
      }
    }
  });
  const order: number[] = [];
  let path = 0;
  while (order.length < left) {
    const node = ready[path].pop(candidate => isDone[candidate] === 0);
    if (node === undefined) {
      if (path === 0) {
        break; // A circle: torch makes none, a damaged trace may.
      }
      path = parents[path];
      continue;
    }
    isDone[node] = 1;
    order.push(node);
    path = leaf[node];
    for (const user of graph.users[node]) {
      if (isPlaced[user] && --waiting[user] === 0) {
        add(user);
      }
    }
  }
  graph.nodes.forEach((_, i) => {
    if (isPlaced[i] && !isDone[i]) {
      order.push(i);
    }
  });
  return order;
}
