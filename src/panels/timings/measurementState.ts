import type { TranslationBundle } from '@jupyterlab/translation';
import { isActive, isKernelBusy } from '../../model/jobs';
import type { ISubjectModel } from '../../interfaces/subject';
import { formatCount } from '../../words/format';
import type { ITimed } from './rows';

/**
 * The state of a measurement, and the available actions.
 */
export interface IMeasurementState {
  /**
   * A sentence that does not change with every round, because it is announced.
   */
  readonly text: string;

  /**
   * The progress, as visible text.
   */
  readonly count: string;

  /**
   * Between 0 and 1; null if unknown, or if nothing is running.
   */
  readonly fraction: number | null;

  /**
   * Whether this measurement is running, or waits for the kernel.
   */
  readonly isOn: boolean;

  /**
   * Why nothing can be started; empty if it can.
   */
  readonly obstacle: string;

  /**
   * Whether anything was measured.
   */
  readonly hasRounds: boolean;
}

/**
 * The state of the measurement of the model’s subject.
 */
export function measurementStateOf(
  model: ISubjectModel,
  rows: readonly ITimed[],
  trans: TranslationBundle
): IMeasurementState {
  const { job, measurement, status } = model;
  const rounds = measurement?.rounds ?? 0;
  const isBusy = isActive(job) && job?.subject === model.subject;
  const isOn = isBusy && job?.kind === 'measure';
  const count =
    isOn && rounds > 0
      ? trans._n('%2 round', '%2 rounds', rounds, formatCount(rounds))
      : '';
  const base = {
    isOn,
    count,
    fraction: isOn
      ? measurement?.state === 'running'
        ? measurement.fraction
        : (job?.fraction ?? null)
      : null,
    obstacle: '',
    hasRounds: rounds > 0
  };
  if (isOn) {
    return { ...base, text: activity(model, trans) };
  }
  const text = atRest(model, rows, trans);
  if (status.kind !== 'ready') {
    const obstacle =
      status.kind === 'busy'
        ? trans.__('Kernel busy, queued')
        : trans.__('No kernel is connected.');
    return { ...base, text, obstacle };
  }
  if (isKernelBusy(job)) {
    const obstacle =
      job?.state === 'queued'
        ? trans.__('Kernel busy, queued')
        : job?.step
          ? trans.__('The Jupyter kernel is busy: %1', job.step)
          : trans.__('The Jupyter kernel is busy.');
    return { ...base, text, obstacle };
  }
  return { ...base, text };
}

function activity(model: ISubjectModel, trans: TranslationBundle): string {
  const { job, measurement } = model;
  if (job?.state === 'queued') {
    return trans.__('Kernel busy, queued: starts after its cell');
  }
  switch (measurement?.state) {
    case 'warming':
      return trans.__('Warming up, until times no longer change');
    case 'running':
      return trans.__('Measuring');
    default:
      return job?.step || trans.__('Building');
  }
}

function atRest(
  { measurement }: ISubjectModel,
  rows: readonly ITimed[],
  trans: TranslationBundle
): string {
  const rounds = measurement?.rounds ?? 0;
  if (rounds > 0) {
    const text = formatCount(rounds);
    return measurement?.state === 'done'
      ? trans._n('Measured in %2 round', 'Measured in %2 rounds', rounds, text)
      : trans._n(
          'Paused after %2 round',
          'Paused after %2 rounds',
          rounds,
          text
        );
  }
  const most = Math.max(0, ...rows.map(row => row.samples.length));
  return most > 0
    ? trans._n(
        'Measured in %2 round, after the build',
        'Measured in %2 rounds, after the build',
        most,
        formatCount(most)
      )
    : trans.__('Nothing measured yet');
}
