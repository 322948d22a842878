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
  const { estimate } = target;
  if (!estimate || estimate.call_us === null) {
    return (
      <span
        className="jp-Compilescope-muted"
        title={trans.__(
          'Nothing runs on %1, so nothing is timed.',
          target.title
        )}
      >
        {trans.__('never run')}
      </span>
    );
  }
  const details = [
    trans.__('Estimated, not measured: nothing runs on %1.', title(target)),
    estimate.kernels_us > estimate.launch_us &&
      trans.__(
        'Kernels: at least %1.',
        formatMicroseconds(estimate.kernels_us)
      ),
    trans._n(
      'The CPU takes about %2 for %1 launch; the longer of the two sets the latency.',
      'The CPU takes about %2 for %1 launches; the longer of the two sets the latency.',
      estimate.launches,
      formatMicroseconds(estimate.launch_us)
    ),
    estimate.unknown > 0 &&
      trans._n(
        '%1 launch is not in it: its size is not known.',
        '%1 launches are not in it: their size is not known.',
        estimate.unknown
      ),
    estimate.how,
    estimate.figures,
    estimate.overhead
  ];
  return (
    <span
      className="jp-Compilescope-estimate"
      title={details.filter(Boolean).join('\n')}
    >
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
 * Whether the kernels computed what they should under the interpreter.
 */
export function Checked(props: {
  target: TargetSummary;
  trans: TranslationBundle;
}): JSX.Element {
  const { checks, kernels } = props.target;
  const { trans } = props;
  const differs = checks.differs ?? 0;
  const agrees = checks.agrees ?? 0;
  if (differs + agrees === 0) {
    return (
      <span
        className="jp-Compilescope-muted"
        title={trans.__('Its kernels are not checked.')}
      >
        –
      </span>
    );
  }
  const text = [
    trans.__('Interpreted and compared with eager, without the device:'),
    trans.__('%1 of %2 kernels agree', agrees, kernels),
    differs > 0 && trans.__('%1 differ', differs)
  ]
    .filter(Boolean)
    .join(' ');
  return (
    <span
      className={
        differs > 0 ? 'jp-mod-bad' : agrees < kernels ? '' : 'jp-mod-ok'
      }
      title={text}
    >
      <span aria-hidden="true">
        {differs > 0 ? '✗' : agrees < kernels ? `${agrees}/${kernels}` : '✓'}
      </span>
      <span className="jp-Compilescope-hidden">{text}</span>
    </span>
  );
}
