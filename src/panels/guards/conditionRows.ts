import type { Compilation, Condition } from '../../protocol/types';

/**
 * The conditions of compilations: those that several have, once.
 *
 * The guard of each is its place among the guards of all.
 */
export function conditionsOf(
  compilations: readonly Compilation[]
): readonly Condition[] {
  const rows = new Map<string, Condition>();
  let before = 0;
  for (const { conditions, guards } of compilations) {
    for (const { name, requirement, guard, failed } of conditions) {
      const key = JSON.stringify([name, requirement, guard === null]);
      const same = rows.get(key);
      rows.set(key, {
        name,
        requirement,
        guard: same ? same.guard : guard === null ? null : before + guard,
        failed: failed || !!same?.failed
      });
    }
    before += guards.length;
  }
  return [...rows.values()];
}
