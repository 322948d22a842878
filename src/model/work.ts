import type {
  IMeasureOptions,
  IMeasuring,
  IStudyOptions
} from '../interfaces/measuring';
import type { IConnection } from '../protocol/connection';
import type {
  JobState,
  Measurement,
  StartRunResult,
  StudyName,
  Sweep
} from '../protocol/types';
import type { ISweeping, ISweepOptions } from '../interfaces/sweeping';
import { Jobs } from './jobs';
import { MeasurementKeeper } from './measurement';
import { ModelRequests } from './requests';
import { SweepKeeper } from './sweep';

/**
 * The kernel's work on the selected subject: a model starts, follows and
 * cancels it.
 */
export abstract class ModelWork
  extends ModelRequests
  implements IMeasuring, ISweeping
{
  get job(): JobState | null {
    return this.jobs.current;
  }

  get jobSince(): number {
    return this.jobs.since;
  }

  get measurement(): Measurement | null {
    return this.measurements.current;
  }

  get sweep(): Sweep | null {
    return this.sweeps.current;
  }

  run(): Promise<void> {
    return this._start((connection, subject) =>
      connection.request('start_run', { subject, variants: [] })
    );
  }

  loadMeasurement(): Promise<void> {
    return this.measurements.load();
  }

  startMeasure(options: IMeasureOptions = {}): Promise<void> {
    const { variants = [], seconds = 10, restart = false } = options;
    const args = { variants: [...variants], seconds, restart };
    return this._start((connection, subject) =>
      connection.request('start_measure', { subject, ...args })
    );
  }

  startStudies(
    studies: readonly StudyName[],
    variants: readonly string[] = [],
    { selected = {}, executor = '' }: IStudyOptions = {}
  ): Promise<void> {
    const options = Object.fromEntries(
      Object.entries(selected).map(([name, names]) => [name, [...names]])
    );
    const args = {
      studies: [...studies],
      variants: [...variants],
      options,
      executor
    };
    return this._start((connection, subject) =>
      connection.request('start_studies', { subject, ...args })
    );
  }

  loadSweep(): Promise<void> {
    return this.sweeps.load();
  }

  startSweep(options: ISweepOptions): Promise<void> {
    const { variants, shapes = {}, timeout = 300, seconds = 2 } = options;
    const args = {
      variants: [...variants],
      shapes: { ...shapes },
      timeout_s: timeout,
      memory_gb: null,
      workers: 1,
      seconds,
      executor: options.executor ?? '',
      resume: options.resume ?? true
    };
    return this.attempt((connection, subject) =>
      this.sweeps.begin(async () => {
        const asked = { subject, ...args };
        return (await connection.request('start_sweep', asked)).sweep;
      })
    );
  }

  cancelSweep(): Promise<void> {
    return this.attempt(async (connection, subject) => {
      await connection.request('cancel_sweep', { subject });
    });
  }

  cancel(): Promise<void> {
    return this.attempt(connection => this.jobs.cancel(connection));
  }

  /**
   * Called when a job has ended, whether it succeeded or not.
   */
  protected abstract jobEnded(job: JobState): void;

  private _start(
    request: (
      connection: IConnection,
      subject: string
    ) => Promise<StartRunResult>
  ): Promise<void> {
    return this.attempt(async (connection, subject) => {
      const { job, code } = await request(connection, subject);
      this.jobs.start(connection, job, code);
    });
  }

  protected readonly jobs = new Jobs({
    onChange: job => this.jobChanged.emit(job),
    onEnd: job => this.jobEnded(job),
    onError: error => this.fail(error),
    onLost: () => void this.refresh()
  });
  protected readonly measurements = new MeasurementKeeper({
    request: since => {
      const { connection, subject } = this.need();
      return connection.request('get_measurement', { subject, since });
    },
    onChange: measurement => this.measurementChanged.emit(measurement),
    onError: error => this.fail(error)
  });
  protected readonly sweeps = new SweepKeeper({
    request: async () => {
      const { connection, subject } = this.need();
      return (await connection.request('get_sweep', { subject })).sweep;
    },
    onChange: sweep => this.sweepChanged.emit(sweep),
    onError: error => this.fail(error)
  });
}
