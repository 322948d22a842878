import * as React from 'react';
import { isActive, isKernelBusy } from '../../model/jobs';
import { stepText } from '../../words/jobs';
import { Elapsed } from '../common/states/elapsed';
import type { IViewContext } from '../views';

/**
 * The progress of the work on the report, for a card that waits for it; the
 * strip above all views cancels it. No card waits for the code of a flipped
 * switch.
 */
export function BuildProgress({
  context
}: {
  context: IViewContext;
}): JSX.Element | null {
  const { model, trans } = context;
  const { job, pending, report } = model;
  const isForSwitch =
    pending && !report?.variants.some(({ name }) => name === job?.variant);
  return isActive(job) && job?.subject === model.subject && !isForSwitch ? (
    <p className="jp-Compilescope-hint">
      {stepText(job, trans)}…{' '}
      <Elapsed
        key={job.id}
        since={model.jobSince}
        words={job.time_words}
        trans={trans}
      />
    </p>
  ) : null;
}

/**
 * Builds and times the report's variants, which also breaks down the time of a
 * call. A report from a file has no such button.
 */
export function BuildButton({
  context
}: {
  context: IViewContext;
}): JSX.Element | null {
  const { model, trans } = context;
  const { job, status } = model;
  // The strip above all views shows what a job is doing.
  if (!model.isLive || (isKernelBusy(job) && job?.subject === model.subject)) {
    return null;
  }
  const why = isKernelBusy(job)
    ? trans.__('The Jupyter kernel is busy.')
    : status.kind !== 'ready'
      ? trans.__('No kernel is connected.')
      : '';
  return (
    <p className="jp-Compilescope-measure">
      <button
        type="button"
        className="jp-Compilescope-button"
        disabled={why !== ''}
        title={
          why ||
          trans.__('Build every variant, check it against eager, time it')
        }
        onClick={() => void model.run()}
      >
        {trans.__('Build and time')}
      </button>
    </p>
  );
}
