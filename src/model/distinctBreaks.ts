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
  variant: Pick<VariantReport, 'breaks' | 'compilations'>
): readonly DistinctBreak[] {
  const all = variant.breaks.length > 0 ? variant.breaks : gather(variant);
  return [...all].sort(
    (a, b) => (b.cost_us ?? -1) - (a.cost_us ?? -1) || b.count - a.count
  );
}

/**
 * The breaks of a report that was written before breaks were told apart: those
 * of one reason at one line are one.
 */
function gather({
  compilations
}: Pick<VariantReport, 'compilations'>): readonly DistinctBreak[] {
  const found = new Map<string, DistinctBreak>();
  for (const { id, breaks } of compilations) {
    for (const cause of breaks) {
      const { reason, where } = cause;
      const key = JSON.stringify([reason, where?.file, where?.line]);
      const known = found.get(key);
      found.set(key, {
        cause: known?.cause ?? cause,
        count: (known?.count ?? 0) + 1,
        cost_us: add(known?.cost_us ?? null, cause.duration_us),
        before: union(known?.before, id),
        after: union(known?.after, cause.resumed),
        eager: union(known?.eager, cause.eager)
      });
    }
  }
  return [...found.values()];
}

/**
 * The user's line of a break: where it happened, or the innermost line of its
 * stack that is known.
 */
export function lineOf({ where, stack }: Break): SourceLine | null {
  return where ?? stack[stack.length - 1] ?? null;
}

function union(known: readonly string[] = [], more: string): string[] {
  return more && !known.includes(more) ? [...known, more] : [...known];
}

function add(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}
