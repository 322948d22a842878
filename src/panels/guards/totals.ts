import type { Compilation } from '../../protocol/types';

/**
 * What the guards of compilations come to.
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
   * The time of a check of all trees, in nanoseconds; null if one was not
   * measured. The costs of single guards may still be known: they leave out how
   * their values are fetched.
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
 * Sum up the guards of compilations.
 */
export function summarize(compilations: readonly Compilation[]): ISummary {
  const guards = compilations.flatMap(compilation => compilation.guards);
  const managers = compilations.flatMap(({ guard_tree }) => guard_tree);
  const roots = compilations.map(
    ({ guard_tree }) => guard_tree[0]?.cost_ns ?? null
  );
  const cost = roots.includes(null)
    ? null
    : roots.reduce<number>((sum, root) => sum + root!, 0);
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
      managers.some(({ fails }) => fails) ? 1 : 0
    ),
    counted: [...guards, ...managers].some(({ fails }) => fails !== null),
    cost,
    highest: costs[0] ?? null,
    costliest:
      count > 0 && cost ? { count, share: Math.min(1, top / cost) } : null
  };
}
