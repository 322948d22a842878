import type { Compilation } from '../../protocol/types';

/**
 * What all guards of a compilation come to.
 */
export interface ISummary {
  readonly count: number;
  readonly python: number;

  /**
   * How many have failed at least once.
   */
  readonly failing: number;

  /**
   * Whether failures were counted.
   */
  readonly counted: boolean;

  /**
   * The time of a check of the whole tree, in nanoseconds; null if it was not
   * measured. The costs of single guards may still be known: they leave out how
   * their values are fetched.
   */
  readonly cost: number | null;

  /**
   * The cost of the costliest guard.
   */
  readonly highest: number | null;

  /**
   * The costliest guards, and the part of the cost that they take together.
   */
  readonly costliest: { readonly count: number; readonly share: number } | null;
}

/**
 * How many of the costliest guards are summed up.
 */
const TOP = 5;

/**
 * Sum up the guards of a compilation.
 */
export function summarize({ guards, guard_tree }: Compilation): ISummary {
  const cost = guard_tree.length > 0 ? guard_tree[0].cost_ns : null;
  const costs = guards
    .flatMap(({ cost_ns }) => (cost_ns === null ? [] : [cost_ns]))
    .sort((a, b) => b - a);
  const count = Math.min(TOP, Math.floor(costs.length / 2));
  const top = costs.slice(0, count).reduce((sum, value) => sum + value, 0);
  return {
    count: guards.length,
    python: guards.filter(({ language }) => language === 'python').length,
    // A failure that torch counts at a node is not of one guard alone.
    failing: Math.max(
      guards.filter(({ fails }) => fails).length,
      guard_tree.some(({ fails }) => fails) ? 1 : 0
    ),
    counted: [...guards, ...guard_tree].some(({ fails }) => fails !== null),
    cost,
    highest: costs[0] ?? null,
    costliest:
      count > 0 && cost ? { count, share: Math.min(1, top / cost) } : null
  };
}
