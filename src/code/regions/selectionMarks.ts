import { isLineKey } from '../../model/links/lineKeys';
import type { RegionIndex } from './regions';
import type { ISelection, Region } from '../types';

/**
 * The regions that a selection marks in one text.
 */
export interface IHighlight {
  /** The selected regions. */
  strong: readonly Region[];
  /**
   * Related regions: the kernel that a launch calls, the launches of a kernel.
   */
  soft: readonly Region[];
}

/**
 * The regions to mark.
 */
export interface IMarked extends Pick<ISelection, 'key' | 'source'> {
  /**
   * Keys of the regions that the selection refers to: the launches of a node, a
   * kernel or a line.
   */
  keys?: ReadonlySet<string>;
}

const NO_HIGHLIGHT: IHighlight = { strong: [], soft: [] };

/**
 * What a selection marks in a text.
 *
 * @param selection What is selected: a key, or else a line of the user's code and what it leads to.
 * @param index The text's regions.
 * @param kernels Kernels that the selection means beside those found here; the other text may
 * know which kernel a key calls when this one does not.
 */
export function highlight(
  selection: IMarked,
  index: RegionIndex,
  kernels: ReadonlySet<string> = new Set()
): IHighlight {
  const { key, source, keys } = selection;
  if (!key && !source && !keys?.size) {
    return NO_HIGHLIGHT;
  }
  const named = key ? index.withKey(key) : [];
  // A wrapper knows no lines of kernels: there the kernel's launches are meant.
  const strong =
    named.length > 0 || (key && !isLineKey(key))
      ? named
      : [
          ...new Set([
            ...(source ? index.withSource(source).filter(isAction) : []),
            ...[...(keys ?? [])].flatMap(launch => index.withKey(launch))
          ])
        ].sort((a, b) => a.start - b.start);
  const chosen = new Set(strong);
  const soft = new Set<Region>();
  for (const region of strong) {
    relatives(region.kernel, region.kind, index).forEach(r => soft.add(r));
  }
  for (const kernel of kernels) {
    relatives(kernel, 'launch', index).forEach(r => soft.add(r));
  }
  return { strong, soft: [...soft].filter(region => !chosen.has(region)) };
}

/** The kernels whose launches a selection marks strongly in a text. */
export function launchedKernels(
  selection: IMarked,
  index: RegionIndex
): Set<string> {
  const names = highlight(selection, index)
    .strong.filter(region => region.kind === 'launch' && region.kernel)
    .map(region => region.kernel!);
  return new Set(names);
}

/** A definition's launches, or a launch's definition. */
function relatives(
  kernel: string | null | undefined,
  kind: Region['kind'],
  index: RegionIndex
): readonly Region[] {
  if (!kernel) {
    return [];
  }
  const otherKind = kind === 'kernel' ? 'launch' : 'kernel';
  return index.withKernel(kernel).filter(region => region.kind === otherKind);
}

/**
 * A source line marks what is done because of it; the kernel that does it follows softly.
 */
function isAction(region: Region): boolean {
  return region.kind !== 'kernel';
}
