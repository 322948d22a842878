import type { IAddress } from './artifacts';
import type { Artifact } from './types';

/**
 * How the two sides are shown.
 *
 * - `aligned`: two editors; what both do stands at one height, and they scroll together.
 * - `diff`: a text diff.
 * - `independent`: two editors that know nothing of each other's height.
 */
export type Mode = 'aligned' | 'diff' | 'independent';

/**
 * The text on a side: its origin and its kind.
 */
export interface ISubjectOfMode {
  address: IAddress;
  artifact: Artifact;
}

/**
 * How two texts can be shown, the best way first.
 *
 * @param left What is on the left; null while there is nothing.
 * @param right What is on the right.
 * @param anchors How many lines the two can be aligned by.
 */
export function modesFor(
  left: ISubjectOfMode | null,
  right: ISubjectOfMode | null,
  anchors: number
): Mode[] {
  if (!left || !right) {
    return ['independent'];
  }
  const alignable = anchors > 0;
  if (areComparable(left, right)) {
    return alignable
      ? ['diff', 'aligned', 'independent']
      : ['diff', 'independent'];
  }
  return alignable
    ? ['aligned', 'independent', 'diff']
    : ['independent', 'diff'];
}

/**
 * Whether a diff of the sides is useful: the same artifact of two variants, two
 * graphs, or two kernels in one language.
 */
function areComparable(left: ISubjectOfMode, right: ISubjectOfMode): boolean {
  if (left.address.artifact === right.address.artifact) {
    return true;
  }
  const { group } = left.artifact;
  if (group !== right.artifact.group) {
    return false;
  }
  return (
    group === 'graph' ||
    (group === 'kernel' && left.artifact.language === right.artifact.language)
  );
}
