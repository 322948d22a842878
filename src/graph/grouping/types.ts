import { Basis } from './owners';

/**
 * A group under construction.
 */
export interface IDraft {
  id: string;
  label: string;
  type: string;
  parent: number;
  depth: number;
  path: number;
  start: number;
  end: number;
  nodes: number[];
  groups: number[];
}

/**
 * A group of nodes, which can be opened and closed.
 */
export interface IGroup {
  /**
   * The same from one stage to the next: `transformer/h.0/attn`, its second part
   * `transformer/h.0/attn#2`.
   */
  readonly id: string;
  readonly label: string;

  /**
   * The module's class, empty if it is not known.
   */
  readonly type: string;

  /**
   * The group that it is in; -1 for the outermost.
   */
  readonly parent: number;
  readonly depth: number;
  readonly groups: readonly number[];
  readonly nodes: readonly number[];

  /**
   * How many nodes are in it, also in groups in it.
   */
  readonly size: number;
}

/**
 * The groups of a graph. Group 0 is the graph itself.
 */
export interface IGrouping {
  readonly basis: Basis;
  readonly groups: readonly IGroup[];

  /**
   * Node → the innermost group that it is in.
   */
  readonly groupOf: readonly number[];

  /**
   * Node → its place in the order of execution that the groups follow.
   */
  readonly place: Float64Array;

  /**
   * Group → the place of its first node.
   */
  readonly groupPlace: Float64Array;

  /**
   * How many nodes got their module from their neighbors.
   */
  readonly inferred: number;
}
