import { isCompiled, isSameVariant } from '../../model/variants';
import { hasCppWrapper } from '../../model/wrappers';
import type { VariantSummary } from '../../protocol/types';

/**
 * The variants whose wrappers are set side by side; null where there is none.
 */
export interface IPair {
  readonly python: string | null;
  readonly cpp: string | null;
}

/**
 * A variant and the one that differs from it in its wrapper alone; or else the
 * first for the same device with the other kind of wrapper.
 */
export function pairOf(
  name: string,
  variants: readonly VariantSummary[]
): IPair {
  const shown = variants.find(variant => variant.name === name);
  if (!shown) {
    return { python: null, cpp: null };
  }
  const { requested } = shown;
  const isCpp = hasCppWrapper(shown);
  const others = variants.filter(
    variant =>
      isCompiled(variant) &&
      hasCppWrapper(variant) !== isCpp &&
      variant.requested.target === requested.target
  );
  const counterpart = { ...requested, cpp_wrapper: !isCpp };
  const other =
    others.find(variant => isSameVariant(variant.requested, counterpart)) ??
    others[0];
  const partner = other?.name ?? null;
  return isCpp
    ? { python: partner, cpp: name }
    : { python: name, cpp: partner };
}
