import type { Region } from '../types';

/**
 * A kernel's definition, as it folds.
 */
export interface IKernelFold {
  /** First line. */
  start: number;
  /** Last line, inclusive. */
  end: number;
  name: string;
  lines: number;
  /** Folded when the text is first shown. */
  initially: boolean;
}

/** Kernels longer than this many lines start out folded. */
export const FOLD_ABOVE_LINES = 12;

/**
 * The kernels that fold: the outermost ones of at least two lines, by rising line.
 *
 * @param regions The text's regions by start line.
 */
export function kernelFolds(regions: readonly Region[]): IKernelFold[] {
  const folds: IKernelFold[] = [];
  let reached = 0;
  for (const region of regions) {
    if (
      region.kind !== 'kernel' ||
      region.start <= reached ||
      region.end <= region.start
    ) {
      continue;
    }
    reached = region.end;
    const lines = region.end - region.start + 1;
    folds.push({
      start: region.start,
      end: region.end,
      name: region.kernel || region.label,
      lines,
      initially: lines > FOLD_ABOVE_LINES
    });
  }
  return folds;
}
