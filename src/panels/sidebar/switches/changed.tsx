import * as React from 'react';
import { isSameVariant } from '../../../model/variants';
import type {
  ChangedSummary,
  Variant,
  VariantSummary
} from '../../../protocol/types';
import type { IPartProps, ISidebarState } from '../types';

/**
 * What the selected switches changed in the code, in a sentence: below the only
 * switch in which the variant differs from its baseline, otherwise below all
 * switches.
 */
export function ChangeSummary(
  props: IPartProps & {
    /**
     * The switch above it; null below all switches.
     */
    at: keyof Variant | null;
  }
): JSX.Element | null {
  const { state, actions, trans, at } = props;
  const variant = requestedVariant(state);
  const changed = variant?.changed;
  if (!changed || placeOf(changed) !== at) {
    return null;
  }
  return (
    <p className="jp-Compilescope-changed" role="status">
      {changed.summary}{' '}
      <button
        type="button"
        className="jp-Compilescope-link"
        title={trans.__('What a variant changed in the code, and why')}
        onClick={() => actions.openView('changes', variant.name)}
      >
        {trans.__('Changes')}
      </button>
    </p>
  );
}

function requestedVariant({
  report,
  requested
}: ISidebarState): VariantSummary | null {
  const summary = report?.variants.find(variant =>
    isSameVariant(variant.requested, requested)
  );
  return summary ?? null;
}

function placeOf({ switches }: ChangedSummary): string | null {
  const [first] = switches;
  return switches.length === 1 && first !== 'options' ? first : null;
}
