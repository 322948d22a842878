import type { Compilation, Condition } from '../../protocol/types';

/**
 * A condition of one or several compilations.
 */
export interface IConditionRow extends Condition {
  /**
   * The ids of the compilations, if others have another condition of this name.
   */
  readonly compilations: readonly string[];
}

/**
 * The conditions of compilations: those that several have, once. Of several they
 * leave out what counts guards of one compilation: the groups.
 *
 * The guard of each is its place among the guards of all.
 */
export function conditionsOf(
  compilations: readonly Compilation[]
): readonly IConditionRow[] {
  if (compilations.length === 1) {
    return compilations[0].conditions.map(condition => ({
      ...condition,
      compilations: []
    }));
  }
  const rows = new Map<string, IConditionRow>();
  let before = 0;
  for (const { id, conditions, guards } of compilations) {
    for (const { name, requirement, guard, failed } of conditions) {
      if (guard === null) {
        continue;
      }
      const key = JSON.stringify([name, requirement]);
      const same = rows.get(key);
      rows.set(key, {
        name,
        requirement,
        guard: same?.guard ?? before + guard,
        failed: failed || !!same?.failed,
        compilations: [...(same?.compilations ?? []), id]
      });
    }
    before += guards.length;
  }
  const all = [...rows.values()];
  const isRepeated = (row: IConditionRow) =>
    all.some(other => other !== row && other.name === row.name);
  return all.map(row => (isRepeated(row) ? row : { ...row, compilations: [] }));
}
