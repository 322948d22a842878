import type { Compilation } from '../../protocol/types';

/**
 * The totals of all guards of a compilation.
 */
export interface ISummary {
  readonly count: number;
  readonly python: number;

  /**
   * The number of guards that have failed at least once.
   */
  readonly failing: number;

  /**
   * Whether failures were counted.
   */
  readonly counted: boolean;

  /**
   * The time to check the whole tree, in nanoseconds; null if it was not
   * measured. The costs of single guards may still be known: they exclude the
   * time to fetch their values.
   */
  readonly cost: number | null;

  /**
   * The cost of the most expensive guard.
   */
  readonly highest: number | null;

  /**
   * The most expensive guards, and their share of the total cost.
   */
  readonly costliest: { readonly count: number; readonly share: number } | null;
}

/**
 * The number of expensive guards in that sum.
 */
const TOP = 5;

/**
 * Sums up the guards of a compilation.
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
    // A failure that torch counts at a node may be of any of its guards.
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
