import type { Compilation, Guard, GuardManager } from '../../protocol/types';
import type { ITreeItem } from '../common';
import type { IGraph } from '../common/graphs';

/**
 * The guards of a compilation.
 */
export interface IGraphGuards extends IGraph {
  /**
   * Null if they cannot be read.
   */
  readonly compilation: Compilation | null;
}

/**
 * A guard and its place among all that are shown.
 */
export interface IEntry {
  readonly index: number;

  /**
   * The id of its compilation, and its place there.
   */
  readonly compilation: string;
  readonly place: number;
  readonly guard: Guard;

  /**
   * Whether it has failed; for guards that torch counts together, whether any
   * of them has.
   */
  readonly failed: boolean;
}

/**
 * A group of guards: a node of torch's tree, or all guards of one source.
 */
export interface IBranch {
  readonly key: string;

  /**
   * Null for a group that is not torch's.
   */
  readonly manager: GuardManager | null;
  readonly source: string;

  /**
   * The title of the compilation whose guards these are; empty for some of them.
   */
  readonly title: string;

  /**
   * A check of all below it, in nanoseconds.
   */
  readonly cost: number | null;

  /**
   * How often a check failed at it or below it.
   */
  readonly fails: number | null;

  /**
   * The number of guards below it.
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
 * A sort order of guards.
 */
export type Order = 'order' | 'cost' | 'fails' | 'source';

/**
 * The guards of a compilation with their places.
 *
 * @param before - How many guards of others are shown before them.
 */
export function entriesOf(
  { id, guards }: Pick<Compilation, 'id' | 'guards'>,
  before = 0
): readonly IEntry[] {
  return guards.map((guard, place) => ({
    index: before + place,
    compilation: id,
    place,
    guard,
    // A file of an earlier version has only the counts.
    failed: guard.failed || (guard.fails ?? 0) > 0
  }));
}

/**
 * The tree as torch has it. Guards to which torch gave no place in it come
 * last, separately.
 */
export function treeOf(
  entries: readonly IEntry[],
  tree: readonly GuardManager[],
  prefix = ''
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
    // The tree of a broken file may contain a cycle.
    const isBelow = parent !== null && parent < index;
    (isBelow ? (below[parent] ?? roots) : roots).push(index);
  });
  // Parents precede children: in reverse order, everything below is complete.
  const branches = new Array<IBranch>(tree.length);
  for (let index = tree.length - 1; index >= 0; index--) {
    const manager = tree[index];
    branches[index] = branch(
      `${prefix}m${index}`,
      manager,
      manager.source,
      direct[index],
      below[index].map(child => branches[child])
    );
  }
  const top = roots.map(index => branches[index]);
  return homeless.length > 0
    ? [...top, branch(`${prefix}none`, null, '', homeless, [])]
    : top;
}

/**
 * The guards of each source together, sources in the order of their first
 * guard.
 */
export function groupsOf(
  entries: readonly IEntry[],
  prefix = ''
): readonly IBranch[] {
  const groups = new Map<string, IEntry[]>();
  for (const entry of entries) {
    const { source } = entry.guard;
    const group = groups.get(source) ?? [];
    group.push(entry);
    groups.set(source, group);
  }
  return [...groups].map(([source, group]) =>
    branch(`${prefix}s${source}`, null, source, group, [])
  );
}

/**
 * All guards of a compilation below its title.
 */
export function titled(
  id: string,
  title: string,
  branches: readonly IBranch[]
): IBranch {
  const [root] = branches;
  return branches.length === 1 && root.manager?.parent === null
    ? { ...root, title }
    : { ...branch(id, null, '', [], branches), title };
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
 * Sorts siblings: the most expensive, or those that fail most, first.
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
 * Sorts guards.
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
 * Compares sources in natural order: `layers.2` before `layers.10`.
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
 * How deep a tree can be unfolded without exceeding a number of rows.
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
  // The children of the root are always visible.
  return Math.max(1, depth);
}

/**
 * The keys of the branches above a guard, outermost first.
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
    title: '',
    cost: manager
      ? manager.cost_ns
      : total([
          ...guards.map(({ guard }) => guard.cost_ns),
          ...branches.map(({ cost }) => cost)
        ]),
    fails: manager
      ? manager.fails
      : total([
          ...guards.map(({ guard }) => guard.fails),
          ...branches.map(({ fails }) => fails)
        ]),
    count,
    guards,
    branches
  };
}

/**
 * The sum of the known values; null if none is known.
 */
function total(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null) as number[];
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
}
