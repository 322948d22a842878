import type { IGrouping } from './grouping/types';

/**
 * The maximum number of boxes that a graph opens with, if its groups allow it.
 */
const MAX_BOXES = 44;

/**
 * The groups that are open at first: from the outside in, as long as what is to
 * be seen stays few. Of a small graph, all.
 *
 * @returns Ids of groups.
 */
export function initiallyOpenGroups(
  { groups }: IGrouping,
  maxBoxes: number = MAX_BOXES
): Set<string> {
  const open = new Set<string>();
  const inside = (group: number) =>
    groups[group].groups.length + groups[group].nodes.length;
  let shown = inside(0);
  let level = [...groups[0].groups];
  while (level.length > 0) {
    const next: number[] = [];
    // All of a level or none: like modules look alike. But one that holds nearly
    // everything is opened by itself.
    const more = level.reduce((sum, group) => sum + inside(group), 0);
    const isFew = shown + more <= maxBoxes;
    for (const group of level) {
      const isMost = groups[group].size > 0.5 * groups[0].size;
      if (isFew || isMost) {
        open.add(groups[group].id);
        shown += inside(group);
        next.push(...groups[group].groups);
      }
    }
    level = next;
  }
  return open;
}
