import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { isActive } from '../../model/jobs';
import type { JobState } from '../../protocol/types';
import type { ISubjectModel } from '../../interfaces/subject';
import { Elapsed } from '../common/states/elapsed';
import { Lasting } from '../common/states/lasting';
import {
  canResume,
  stepText,
  stoppedText,
  waitingText
} from '../../words/jobs';
import type { IViewContext } from '../views';

/**
 * Above all views: the arrival of another report, the kernel's work for the
 * report and its start, what was stopped, and the end of the kernel; each with
 * an action to continue.
 */
export class WorkStrip extends ReactWidget {
  constructor(
    private _context: Pick<IViewContext, 'model' | 'trans' | 'runAgain'>
  ) {
    super();
    this.addClass('jp-Compilescope-work');
    const { model } = _context;
    model.jobChanged.connect(this._onJob, this);
    model.statusChanged.connect(this.update, this);
    model.subjectsChanged.connect(this.update, this);
    model.reportChanged.connect(this.update, this);
  }

  protected override render(): JSX.Element {
    return (
      <>
        {this._offer()}
        {this._work()}
      </>
    );
  }

  private _offer(): JSX.Element | null {
    const { model, trans } = this._context;
    const { offered } = model;
    const come = model.subjects.find(subject => subject.subject.id === offered);
    return offered !== null && come ? (
      <Line>
        <span>
          {trans.__('The report of %1 is complete.', come.subject.name)}
        </span>
        <Action
          label={trans.__('Show it')}
          onClick={() => {
            model.subject = offered;
          }}
        />
        <Action
          label={trans.__('Dismiss')}
          onClick={() => model.dismissOffer()}
        />
      </Line>
    ) : null;
  }

  private _work(): JSX.Element | null {
    const { model, trans, runAgain } = this._context;
    const { job, report } = model;
    if (report && !model.isLive && isGone(model)) {
      return (
        <Line>
          <span>{kernelGoneText(model, trans)}</span>
          {runAgain?.isPossible() && (
            <Action
              label={trans.__('Run again')}
              title={trans.__(
                'Run the cells above it and the cell of this report'
              )}
              onClick={runAgain.run}
            />
          )}
        </Line>
      );
    }
    if (!job || job.subject !== model.subject) {
      return null;
    }
    if (isActive(job)) {
      return (
        <Lasting key={job.id} since={model.jobSince}>
          <Line kind="running">
            <span className="jp-Compilescope-spinner" aria-hidden="true" />
            <span
              className="jp-Compilescope-workText"
              title={stepText(job, trans)}
            >
              {job.variant && (
                <>
                  <strong>{job.variant}</strong>{' '}
                </>
              )}
              <span>{stepText(job, trans)}</span>{' '}
              <Elapsed
                since={model.jobSince}
                words={job.time_words}
                trans={trans}
              />
              <Waiting job={job} trans={trans} />
            </span>
            <Action
              label={trans.__('Cancel')}
              onClick={() => void model.cancel()}
            />
          </Line>
        </Lasting>
      );
    }
    if (job.id === this._dismissed) {
      return null;
    }
    const dismiss = (
      <Action label={trans.__('Dismiss')} onClick={() => this._dismiss(job)} />
    );
    if (job.state === 'failed' && job.error) {
      return (
        <Line kind="error">
          <span>{job.error.what}</span>
          {dismiss}
        </Line>
      );
    }
    return canResume(job, model.subject) ? (
      <Line>
        <span>{stoppedText(job, report, trans)}</span>
        <Action
          label={trans.__('Resume')}
          onClick={() => void model.resume()}
        />
        {dismiss}
      </Line>
    ) : null;
  }

  /**
   * Forgets what was dismissed when a job starts: another kernel assigns the
   * same ids again.
   */
  private _onJob(): void {
    const { job } = this._context.model;
    if (!job || isActive(job)) {
      this._dismissed = '';
    }
    this.update();
  }

  private _dismiss(job: JobState): void {
    this._dismissed = job.id;
    this.update();
  }

  private _dismissed = '';
}

function Waiting(props: {
  job: JobState;
  trans: TranslationBundle;
}): JSX.Element | null {
  const text = waitingText(props.job, props.trans);
  return text ? (
    <span className="jp-Compilescope-muted">{`· ${text}`}</span>
  ) : null;
}

function Line(props: {
  kind?: string;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <div
      className={`jp-Compilescope-workLine jp-mod-${props.kind ?? 'info'}`}
      role="status"
    >
      {props.children}
    </div>
  );
}

function Action(props: {
  label: string;
  title?: string;
  onClick: () => void;
}): JSX.Element {
  return (
    <button
      type="button"
      className="jp-Compilescope-button"
      title={props.title}
      onClick={props.onClick}
    >
      {props.label}
    </button>
  );
}

/**
 * Whether the kernel of the report has ended; not for a report from a file.
 */
function isGone({ isKept, status }: ISubjectModel): boolean {
  return (
    isKept ||
    status.kind === 'dead' ||
    status.kind === 'none' ||
    status.kind === 'unloaded' ||
    status.isRestart === true
  );
}

function kernelGoneText(
  model: ISubjectModel,
  trans: TranslationBundle
): string {
  const what =
    model.status.kind === 'dead' || model.status.kind === 'none'
      ? trans.__('The kernel of this report is gone.')
      : trans.__('The kernel was restarted: this report predates it.');
  return model.isKept ? trans.__('%1 You can view and save it.', what) : what;
}
