import type { Graph, Node } from '../../protocol/types';
import { differingParts } from './compare';
import { Matcher } from './match';

/**
 * What became of a node since the stage before.
 *
 * - `same`: as it was.
 * - `renamed`: as it was, under another name.
 * - `rewritten`: it does the work of other nodes, or does it otherwise.
 * - `added`: nothing of the stage before it comes from.
 */
export type ChangeKind = 'same' | 'renamed' | 'rewritten' | 'added';

export interface IChange {
  readonly kind: ChangeKind;

  /**
   * The nodes of the earlier stage that it comes from.
   */
  readonly from: readonly string[];

  /**
   * The names of the fields that differ.
   */
  readonly fields: readonly string[];
}

/**
 * A node of the earlier stage without a successor.
 */
export interface IRemoved {
  readonly node: Node;

  /**
   * Names of nodes of this stage that stand where its inputs and its users stood.
   */
  readonly inputs: readonly string[];
  readonly users: readonly string[];
}

/**
 * The changes between two stages of a graph.
 */
export interface IStageDiff {
  readonly before: string;

  /**
   * Name of a node of this stage → its change.
   */
  readonly changes: ReadonlyMap<string, IChange>;
  readonly removed: readonly IRemoved[];

  /**
   * How many nodes of the stage before went to the other half (the backward of a
   * joint graph).
   */
  readonly elsewhere: number;
  readonly counts: Readonly<Record<ChangeKind | 'removed', number>>;

  /**
   * Whether nodes were matched by where they come from, since torch renamed them.
   */
  readonly isByOrigin: boolean;
}

/**
 * Compare a stage with the one before it.
 *
 * Nodes are matched by name where both do the same, then by name alone, then by
 * what they come from in Dynamo's graph, then by their line.
 *
 * @param other - The other half of what `before` was split in.
 */
export function diffStages(
  before: Graph,
  after: Graph,
  other: Graph | null = null
): IStageDiff {
  const matcher = new Matcher(before.nodes, after.nodes);
  const changes = new Map<string, IChange>();
  const counts = { same: 0, renamed: 0, rewritten: 0, added: 0, removed: 0 };
  for (const node of after.nodes) {
    const from = matcher.from.get(node.name) ?? [];
    const isOne = from.length === 1 && matcher.isOnlyMatch(from[0], node.name);
    const fields = isOne
      ? differingParts(matcher.old(from[0]), node, matcher.renames)
      : [];
    const kind: ChangeKind =
      from.length === 0
        ? 'added'
        : !isOne || fields.length > 0
          ? 'rewritten'
          : from[0] === node.name
            ? 'same'
            : 'renamed';
    counts[kind]++;
    changes.set(node.name, { kind, from, fields });
  }
  const elsewhere = new Set(other?.nodes.map(node => node.name));
  const gone = before.nodes.filter(node => !matcher.to.has(node.name));
  const removed = gone.filter(node => !elsewhere.has(node.name));
  counts.removed = removed.length;
  const now = (names: readonly string[]) => [
    ...new Set(names.flatMap(name => matcher.to.get(name) ?? []))
  ];
  return {
    before: before.stage,
    changes,
    removed: removed.map(node => ({
      node,
      inputs: now(node.inputs),
      users: now(node.users)
    })),
    elsewhere: gone.length - removed.length,
    counts,
    isByOrigin: matcher.isByOrigin
  };
}
