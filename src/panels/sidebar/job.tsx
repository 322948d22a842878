import { runIcon, stopIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { isActive, isKernelBusy } from '../../model/jobs';
import { isOnlyForTargets } from '../../model/variants';
import { Elapsed } from '../common/states/elapsed';
import { Lasting } from '../common/states/lasting';
import { formatShare } from '../../words/format';
import {
  canResume,
  stepText,
  stoppedText,
  waitingText
} from '../../words/jobs';
import type { IPartProps } from './types';

/**
 * Run and cancel, and the progress of the work.
 */
export function Job({ state, actions, trans }: IPartProps): JSX.Element {
  const { job, status, report } = state;
  const isBusy = isActive(job);
  const isForTargets = isOnlyForTargets(report?.variants ?? []);
  const canRun =
    status.kind === 'ready' && report !== null && !isKernelBusy(job);
  return (
    <div className="jp-Compilescope-job">
      <div className="jp-Compilescope-jobButtons">
        <button
          type="button"
          className="jp-Compilescope-button jp-mod-accept"
          disabled={!canRun}
          title={
            isForTargets
              ? trans.__(
                  'Compile the kernels for the target and check them: nothing runs there'
                )
              : trans.__('Build every variant, check it against eager, time it')
          }
          onClick={actions.run}
        >
          <runIcon.react tag="span" width="14px" height="14px" />
          {isForTargets
            ? trans.__('Compile and check')
            : trans.__('Build and time')}
        </button>
        <button
          type="button"
          className="jp-Compilescope-button"
          disabled={!isBusy}
          title={trans.__('Stop building and timing')}
          onClick={actions.cancel}
        >
          <stopIcon.react tag="span" width="14px" height="14px" />
          {trans.__('Cancel')}
        </button>
      </div>
      <Progress state={state} actions={actions} trans={trans} />
    </div>
  );
}

function Progress({ state, actions, trans }: IPartProps): JSX.Element | null {
  const { job } = state;
  if (!job) {
    return null;
  }
  if (!isActive(job)) {
    return job.state === 'cancelled' ? (
      <p className="jp-Compilescope-hint" role="status">
        {stoppedText(job, state.report, trans)}{' '}
        {canResume(job, state.subject) && (
          <button
            type="button"
            className="jp-Compilescope-link"
            onClick={actions.resume}
          >
            {trans.__('Resume')}
          </button>
        )}
      </p>
    ) : null;
  }
  const step = stepText(job, trans);
  const waiting = waitingText(job, trans);
  return (
    <Lasting key={job.id} since={state.jobSince}>
      <div className="jp-Compilescope-progress">
        <progress
          aria-label={trans.__('Progress of the work')}
          value={job.fraction ?? undefined}
          max={1}
        />
        <span role="status" title={step}>
          {step}
        </span>
        {job.fraction !== null && job.state === 'running' && (
          <span className="jp-Compilescope-muted">
            {formatShare(job.fraction)}
          </span>
        )}
        <Elapsed since={state.jobSince} words={job.time_words} trans={trans} />
        {waiting && <span className="jp-Compilescope-muted">{waiting}</span>}
      </div>
    </Lasting>
  );
}
