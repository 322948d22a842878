import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { TargetSummary } from '../../protocol/types';
import { formatMicroseconds } from '../../words/format';

/**
 * A target by its vendor's name and what Triton calls it: `H100 SXM (sm_90)`.
 */
export function title({ title, arch }: TargetSummary): string {
  const name = /^\d+$/.test(arch) ? `sm_${arch}` : arch;
  return name ? `${title} (${name})` : title;
}

/**
 * How far a variant for a target is: its kernels may be compiled, never run.
 */
export function targetStage(
  { compiled, kernels }: TargetSummary,
  trans: TranslationBundle
): string {
  return compiled > 0
    ? trans._n(
        '%1 of %2 kernel compiled',
        '%1 of %2 kernels compiled',
        kernels,
        compiled,
        kernels
      )
    : trans.__('sources');
}

/**
 * What a call would take: its kernels or its launches, whichever takes longer.
 * It must not be taken for a measurement.
 */
export function Estimated(props: {
  target: TargetSummary;
  trans: TranslationBundle;
}): JSX.Element {
  const { target, trans } = props;
  const { estimate, estimated } = target;
  const details = estimated.join('\n');
  if (!estimate || estimate.call_us === null) {
    return (
      <span className="jp-Compilescope-muted" title={details}>
        {trans.__('never run')}
      </span>
    );
  }
  return (
    <span className="jp-Compilescope-estimate" title={details}>
      <span aria-hidden="true">≈ </span>
      <span className="jp-Compilescope-hidden">
        {trans.__('estimated, about')}{' '}
      </span>
      {formatMicroseconds(estimate.call_us)}
      <span className="jp-Compilescope-interval">
        {trans.__('a call, est.')}
      </span>
    </span>
  );
}

/**
 * Whether a kernel was compared with eager under the interpreter.
 */
export function wasChecked({ checks }: TargetSummary): boolean {
  return (checks.differs ?? 0) + (checks.agrees ?? 0) > 0;
}

/**
 * Whether the kernels computed what they should under the interpreter.
 */
export function Checked(props: {
  target: TargetSummary;
  trans: TranslationBundle;
}): JSX.Element {
  const { checks, kernels, checked } = props.target;
  const { trans } = props;
  const differs = checks.differs ?? 0;
  const agrees = checks.agrees ?? 0;
  if (!wasChecked(props.target)) {
    return (
      <span
        className="jp-Compilescope-muted"
        title={checked || trans.__('Its kernels are not checked.')}
      >
        –
      </span>
    );
  }
  return (
    <span
      className={
        differs > 0 ? 'jp-mod-bad' : agrees < kernels ? '' : 'jp-mod-ok'
      }
      title={checked}
    >
      <span aria-hidden="true">
        {differs > 0 ? '✗' : agrees < kernels ? `${agrees}/${kernels}` : '✓'}
      </span>
      <span className="jp-Compilescope-hidden">{checked}</span>
    </span>
  );
}
