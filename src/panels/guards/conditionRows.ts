import type { Compilation, Condition } from '../../protocol/types';

/**
 * The conditions of compilations: those that several have, once. Of several they
 * leave out what counts guards of one compilation: the groups.
 *
 * The guard of each is its place among the guards of all.
 */
export function conditionsOf(
  compilations: readonly Compilation[]
): readonly Condition[] {
  if (compilations.length === 1) {
    return compilations[0].conditions;
  }
  const rows = new Map<string, Condition>();
  let before = 0;
  for (const { conditions, guards } of compilations) {
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
        failed: failed || !!same?.failed
      });
    }
    before += guards.length;
  }
  return [...rows.values()];
}
