import * as React from 'react';
import { isKernelBusy } from '../../model/jobs';
import type { Variant } from '../../protocol/types';
import type { IViewContext } from '../views';

/**
 * Adds a variant to the report, and measures it. A report from a file has no such
 * button.
 */
export function TryButton(props: {
  requested: Variant;
  label: string;
  className: string;
  context: IViewContext;
  onTry: (variant: Variant) => void;
}): JSX.Element | null {
  const { requested, label, className, context, onTry } = props;
  const { model, trans } = context;
  return model.isLive ? (
    <button
      type="button"
      className={className}
      title={
        requested.target === null
          ? trans.__('Add this variant, and measure it')
          : trans.__('Add this variant, and estimate its time')
      }
      disabled={isKernelBusy(model.job) || model.status.kind !== 'ready'}
      onClick={() => onTry(requested)}
    >
      {label}
    </button>
  ) : null;
}
