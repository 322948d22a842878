import type { Node } from '../protocol/types';

/**
 * A graph by numbers: node `i` is `nodes[i]`.
 */
export interface IIndexed {
  readonly nodes: readonly Node[];

  /**
   * Name → number.
   */
  readonly at: ReadonlyMap<string, number>;

  /**
   * Node → the nodes whose values it takes, in the order of its arguments, each
   * once.
   */
  readonly inputs: readonly (readonly number[])[];

  /**
   * Node → the nodes that take its value, in the graph's order.
   */
  readonly users: readonly (readonly number[])[];
}

/**
 * Number the nodes of a graph. Inputs that the graph does not have are left out.
 */
export function indexGraph(nodes: readonly Node[]): IIndexed {
  const at = new Map<string, number>();
  nodes.forEach((node, i) => at.set(node.name, i));
  const inputs: number[][] = [];
  const users: number[][] = nodes.map(() => []);
  nodes.forEach((node, i) => {
    const seen = new Set<number>();
    for (const name of node.inputs) {
      const input = at.get(name);
      if (input !== undefined && input !== i) {
        seen.add(input);
      }
    }
    inputs.push([...seen]);
    seen.forEach(input => users[input].push(i));
  });
  return { nodes, at, inputs, users };
}
