import type {
  Break,
  DistinctBreak,
  SourceLine,
  VariantReport
} from '../protocol/types';

/**
 * Each distinct break of a variant once, the costliest first.
 */
export function breaksOf(
  variant: Pick<VariantReport, 'breaks'>
): readonly DistinctBreak[] {
  return [...variant.breaks].sort(
    (a, b) => (b.cost_us ?? -1) - (a.cost_us ?? -1) || b.count - a.count
  );
}

/**
 * The user's line of a break: where it happened, or the innermost line of its
 * stack that is known.
 */
export function lineOf({ where, stack }: Break): SourceLine | null {
  return where ?? stack[stack.length - 1] ?? null;
}
