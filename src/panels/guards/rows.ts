import type { Guard, GuardManager } from '../../protocol/types';
import type { ITreeItem } from '../common';

/**
 * A guard and its place in the compilation.
 */
export interface IEntry {
  readonly index: number;
  readonly guard: Guard;

  /**
   * Whether it has failed; of guards that torch counts together, whether one of
   * them has.
   */
  readonly failed: boolean;
}

/**
 * What stands over guards: a node of torch's tree, or all of one source.
 */
export interface IBranch {
  readonly key: string;

  /**
   * Null for a group that is not torch's.
   */
  readonly manager: GuardManager | null;
  readonly source: string;

  /**
   * A check of all below it, in nanoseconds.
   */
  readonly cost: number | null;

  /**
   * How often a check failed at it or below.
   */
  readonly fails: number | null;

  /**
   * How many guards are below it.
   */
  readonly count: number;
  readonly guards: readonly IEntry[];
  readonly branches: readonly IBranch[];
}

/**
 * A row of the tree.
 */
export type Content =
  | { readonly kind: 'guard'; readonly entry: IEntry }
  | { readonly kind: 'branch'; readonly branch: IBranch };

/**
 * An order of guards.
 */
export type Order = 'order' | 'cost' | 'fails' | 'source';

/**
 * The guards of a compilation with their places.
 */
export function entriesOf(guards: readonly Guard[]): readonly IEntry[] {
  return guards.map((guard, index) => ({
    index,
    guard,
    // A file of an earlier version has the counts alone.
    failed: guard.failed || (guard.fails ?? 0) > 0
  }));
}

/**
 * The tree as torch has it. Guards that torch gave no place in it come last, by
 * themselves.
 */
export function treeOf(
  entries: readonly IEntry[],
  tree: readonly GuardManager[]
): readonly IBranch[] {
  const direct = tree.map((): IEntry[] => []);
  const below = tree.map((): number[] => []);
  const homeless: IEntry[] = [];
  for (const entry of entries) {
    const { manager } = entry.guard;
    (manager === null ? homeless : (direct[manager] ?? homeless)).push(entry);
  }
  const roots: number[] = [];
  tree.forEach(({ parent }, index) => {
    // A tree from a broken file may have a circle.
    const isBelow = parent !== null && parent < index;
    (isBelow ? (below[parent] ?? roots) : roots).push(index);
  });
  // Parents stand before children: from the end on, all below is there.
  const branches = new Array<IBranch>(tree.length);
  for (let index = tree.length - 1; index >= 0; index--) {
    const manager = tree[index];
    branches[index] = branch(
      `m${index}`,
      manager,
      manager.source,
      direct[index],
      below[index].map(child => branches[child])
    );
  }
  const top = roots.map(index => branches[index]);
  return homeless.length > 0
    ? [...top, branch('none', null, '', homeless, [])]
    : top;
}

/**
 * The guards of each source together, in the order in which sources first come.
 */
export function groupsOf(entries: readonly IEntry[]): readonly IBranch[] {
  const groups = new Map<string, IEntry[]>();
  for (const entry of entries) {
    const { source } = entry.guard;
    const group = groups.get(source) ?? [];
    group.push(entry);
    groups.set(source, group);
  }
  return [...groups].map(([source, group]) =>
    branch(`s${source}`, null, source, group, [])
  );
}

/**
 * Only the guards to keep, and what stands over them.
 */
export function prune(
  branches: readonly IBranch[],
  keep: (entry: IEntry) => boolean
): readonly IBranch[] {
  return branches.flatMap(child => {
    const guards = child.guards.filter(keep);
    const below = prune(child.branches, keep);
    const count = below.reduce((sum, b) => sum + b.count, guards.length);
    return count > 0 ? [{ ...child, guards, branches: below, count }] : [];
  });
}

/**
 * Siblings in an order: the costliest, or those that fail most, on top.
 */
export function arrange(
  branches: readonly IBranch[],
  order: Order
): readonly IBranch[] {
  if (order === 'order') {
    return branches;
  }
  return [...branches]
    .sort((a, b) =>
      order === 'source'
        ? compareSources(a.source, b.source)
        : compareDown(a[order], b[order])
    )
    .map(child => ({
      ...child,
      guards: sortEntries(child.guards, order),
      branches: arrange(child.branches, order)
    }));
}

/**
 * Guards in an order.
 */
function sortEntries(
  entries: readonly IEntry[],
  order: Order
): readonly IEntry[] {
  return order === 'order'
    ? entries
    : [...entries].sort(({ guard: a }, { guard: b }) =>
        order === 'source'
          ? compareSources(a.source, b.source)
          : order === 'cost'
            ? compareDown(a.cost_ns, b.cost_ns)
            : compareDown(a.fails, b.fails)
      );
}

/**
 * Compares sources as a reader does: `layers.2` before `layers.10`.
 */
export function compareSources(a: string, b: string): number {
  return COLLATOR.compare(a, b);
}

/**
 * The rows to draw.
 *
 * @param isOpen - Whether a branch is unfolded.
 */
export function flatten(
  branches: readonly IBranch[],
  isOpen: (branch: IBranch, level: number) => boolean
): readonly ITreeItem<Content>[] {
  const items: ITreeItem<Content>[] = [];
  const add = (siblings: readonly IBranch[], before: number, level: number) => {
    const count = before + siblings.length;
    siblings.forEach((sibling, index) => {
      const open = isOpen(sibling, level);
      items.push({
        key: sibling.key,
        level,
        isOpen: open,
        place: before + index + 1,
        siblings: count,
        content: { kind: 'branch', branch: sibling }
      });
      if (open) {
        const below = sibling.guards.length + sibling.branches.length;
        sibling.guards.forEach((entry, place) => {
          items.push({
            key: keyOf(entry),
            level: level + 1,
            isOpen: null,
            place: place + 1,
            siblings: below,
            content: { kind: 'guard', entry }
          });
        });
        add(sibling.branches, sibling.guards.length, level + 1);
      }
    });
  };
  add(branches, 0, 1);
  return items;
}

/**
 * How deep a tree can be unfolded without running to more rows than that.
 */
export function depthFor(branches: readonly IBranch[], rows: number): number {
  let level: readonly IBranch[] = branches;
  let shown = branches.length;
  let depth = 0;
  while (level.length > 0) {
    for (const child of level) {
      shown += child.guards.length + child.branches.length;
    }
    if (shown > rows) {
      break;
    }
    depth++;
    level = level.flatMap(child => child.branches);
  }
  // The root's own children are always there to see.
  return Math.max(1, depth);
}

/**
 * The keys of the branches over a guard, the outermost first.
 */
export function pathTo(
  branches: readonly IBranch[],
  index: number
): readonly string[] {
  for (const child of branches) {
    if (child.guards.some(entry => entry.index === index)) {
      return [child.key];
    }
    const path = pathTo(child.branches, index);
    if (path.length > 0) {
      return [child.key, ...path];
    }
  }
  return [];
}

/**
 * The key of a guard's row.
 */
export function keyOf(entry: IEntry): string {
  return `g${entry.index}`;
}

const COLLATOR = new Intl.Collator('en', { numeric: true });

function compareDown(a: number | null, b: number | null): number {
  return (b ?? -1) - (a ?? -1);
}

function branch(
  key: string,
  manager: GuardManager | null,
  source: string,
  guards: readonly IEntry[],
  branches: readonly IBranch[]
): IBranch {
  const count = branches.reduce(
    (sum, child) => sum + child.count,
    guards.length
  );
  return {
    key,
    manager,
    source,
    cost: manager
      ? manager.cost_ns
      : total(guards.map(({ guard }) => guard.cost_ns)),
    fails: manager
      ? manager.fails
      : total(guards.map(({ guard }) => guard.fails)),
    count,
    guards,
    branches
  };
}

/**
 * A sum of what is known; null if nothing is.
 */
function total(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null) as number[];
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
}
