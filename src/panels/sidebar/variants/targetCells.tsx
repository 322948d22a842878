import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { TargetSummary } from '../../../protocol/types';

/**
 * A target by its product name and its architecture: `H100 SXM (sm_90)`.
 */
export function title({ title, arch }: TargetSummary): string {
  return arch ? `${title} (${arch})` : title;
}

/**
 * The estimated time of a call, marked as an estimate.
 */
export function EstimatedTime(props: {
  target: TargetSummary;
  trans: TranslationBundle;
}): JSX.Element {
  const { target, trans } = props;
  const { call_words, estimate, estimated } = target;
  // A file of an earlier version has no words.
  const isKnown =
    !!call_words && estimate !== null && estimate.call_us !== null;
  return (
    <span
      className={isKnown ? 'jp-Compilescope-estimate' : 'jp-Compilescope-muted'}
      title={estimated.join('\n')}
    >
      {isKnown ? call_words.replaceAll(' ', '\u00a0') : call_words}
      {isKnown && (
        <span className="jp-Compilescope-interval">
          {trans.__('a call, est.')}
        </span>
      )}
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
 * Whether the kernels computed the right values under the interpreter.
 */
export function CheckOutcome(props: {
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
