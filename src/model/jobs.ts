import type { IConnection } from '../protocol/connection';
import type { JobState } from '../protocol/types';

/**
 * The order of a job's states: events and replies may overtake each other.
 */
const RANK: Record<JobState['state'], number> = {
  queued: 0,
  running: 1,
  done: 2,
  cancelled: 2,
  failed: 2
};

/**
 * Whether a job has not ended.
 */
export function isActive(job: JobState | null): boolean {
  return job !== null && RANK[job.state] < RANK.done;
}

/**
 * Whether a job occupies the kernel's main thread, or waits for it. A job on another
 * thread, or in another process, does neither: the kernel can start the next one.
 */
export function isKernelBusy(job: JobState | null): boolean {
  return isActive(job) && job?.aside === false;
}

/**
 * Whether an update of a job is older than its known state.
 */
function isStale(known: JobState, update: JobState): boolean {
  return (
    RANK[known.state] > RANK[update.state] ||
    // A job that left the main thread does not return to it.
    (known.state === update.state && known.aside && !update.aside)
  );
}

/**
 * Whether a job runs on the main thread, where another one ran before it.
 */
function isNextOnMain(job: JobState, before: JobState): boolean {
  return (
    !job.aside &&
    job.state === 'running' &&
    !before.aside &&
    before.state !== 'queued'
  );
}

/**
 * The job whose end was missed.
 *
 * @param before - What was known.
 * @param job - What the kernel says of it now.
 */
function endedSince(
  before: JobState,
  job: JobState | undefined
): JobState | null {
  if (!isActive(before)) {
    return null;
  }
  if (!job) {
    // The reply does not say how it ended; the report has its results.
    return { ...before, state: 'done' };
  }
  return isActive(job) ? null : job;
}

interface IKnownJob {
  readonly job: JobState;

  /**
   * When it began, or began to wait, by this page's clock.
   */
  readonly since: number;
}

/**
 * How long a cancel request may take before the kernel is interrupted anyway, in
 * milliseconds.
 */
const CANCEL_PATIENCE = 250;

/**
 * How long a canceled measurement may take to end by itself, at its next round, in
 * milliseconds. An interrupt would often come too late, and hit the cell that waited.
 */
const ROUND_PATIENCE = 2000;
const POLL_MS = 50;

/**
 * How long the event that a job has ended may take after its code has ended, in
 * milliseconds.
 */
const END_EVENT_TIMEOUT_MS = 500;

/**
 * The work in a kernel: starts it, follows it, stops it. One job at a time runs on the
 * main thread; others wait for it, or run beside it on other threads.
 */
export class Jobs {
  constructor(private _options: Jobs.IOptions) {}

  /**
   * The job on the main thread, else the next one that waits for it, else the newest on
   * another thread; if none is active, the last one, rather one that failed or was
   * canceled if several ran at once.
   */
  get current(): JobState | null {
    return this._shown?.job ?? null;
  }

  /**
   * When the current job began, or began to wait, by this page's clock.
   */
  get since(): number {
    return this._shown?.since ?? 0;
  }

  /**
   * Replace what was known by the jobs that the kernel reports.
   */
  reset(jobs: readonly JobState[]): void {
    const before = this._known;
    const now = new Map(jobs.map(job => [job.id, job]));
    this._known = before.filter(({ job }) => now.has(job.id));
    jobs.forEach(job => this._put(job));
    for (const { job } of before) {
      const ended = endedSince(job, now.get(job.id));
      if (ended) {
        this._options.onEnd(ended);
      }
    }
    this._options.onChange(this.current);
  }

  /**
   * Update a job.
   */
  update(job: JobState): void {
    const known = this._find(job.id);
    if (!known || !isStale(known, job)) {
      this._put(job);
    }
    if (!isActive(job)) {
      this._options.onEnd(job);
    }
    this._options.onChange(this.current);
  }

  /**
   * Mark all jobs as canceled: the kernel has ended.
   */
  end(): void {
    this._ends++;
    // The next kernel counts its jobs from 1 again.
    this._cancelled.clear();
    for (const { job } of this._known) {
      if (isActive(job)) {
        this.update({ ...job, state: 'cancelled' });
      }
    }
  }

  /**
   * Start a job in the kernel.
   *
   * @param code - The code that starts it; empty if it is running already.
   */
  start(connection: IConnection, job: JobState, code: string): void {
    const known = this._find(job.id);
    // The event that it has ended may have overtaken the reply.
    this.update(known && !isActive(known) ? known : job);
    if (!code) {
      return;
    }
    const ends = this._ends;
    const isWanted = () => !this._cancelled.has(job.id);
    connection
      .execute(code, isWanted)
      .then(() => this._codeEnded(job.id))
      .catch(async error => {
        await sleep(END_EVENT_TIMEOUT_MS);
        const isTold = (this._find(job.id)?.error ?? null) !== null;
        const isGone = connection.isDisposed || ends !== this._ends;
        if (isWanted() && !isTold && !isGone) {
          this._options.onError(error);
          this._options.onLost();
        }
      });
  }

  /**
   * Stop the current job.
   */
  async cancel(connection: IConnection): Promise<void> {
    const job = this.current;
    if (!job || !isActive(job)) {
      return;
    }
    this._cancelled.add(job.id);
    const reply = connection.request('cancel', { job: job.id });
    // A kernel without subshells handles the request only once it is free.
    await Promise.race([reply, sleep(CANCEL_PATIENCE)]);
    // A job on another thread ends without an interrupt, which would hit the user's
    // cell. The job may have left the main thread since it was canceled.
    const isRunning = () => {
      const now = this._find(job.id);
      return now?.state === 'running' && !now.aside;
    };
    let patience = job.kind === 'measure' ? ROUND_PATIENCE : 0;
    for (; patience > 0 && isRunning(); patience -= POLL_MS) {
      await sleep(POLL_MS);
    }
    if (isRunning()) {
      await connection.interrupt();
    }
    await reply;
  }

  /**
   * The job's code has ended: if the job still counts as active, an event was missed.
   */
  private async _codeEnded(id: string): Promise<void> {
    // A job on another thread outlasts the code.
    const isOpen = () => isKernelBusy(this._find(id) ?? null);
    if (isOpen()) {
      await sleep(END_EVENT_TIMEOUT_MS);
    }
    if (isOpen()) {
      this._options.onLost();
    }
  }

  private get _shown(): IKnownJob | null {
    const main = this._known.filter(({ job }) => !job.aside);
    const aside = this._known.filter(({ job }) => job.aside);
    const known = [...main, ...aside.reverse()];
    return (
      main.find(({ job }) => job.state === 'running') ??
      known.find(({ job }) => isActive(job)) ??
      known.find(({ job }) => job.state !== 'done') ??
      known[0] ??
      null
    );
  }

  private _find(id: string): JobState | undefined {
    return this._known.find(({ job }) => job.id === id)?.job;
  }

  /**
   * Keeps a job in place of what was known of it, of the job that ran before it on the
   * main thread and, if it is new, of those that have ended.
   */
  private _put(job: JobState): void {
    const same = this._known.find(known => known.job.id === job.id);
    const kept = this._known.filter(
      known =>
        known === same ||
        (!isNextOnMain(job, known.job) && (same || isActive(known.job)))
    );
    // A later update may have taken longer to arrive.
    const isSame = same && (!isActive(job) || same.job.state === job.state);
    const since = isSame ? same.since : Date.now() - 1000 * job.elapsed_s;
    const now = { job, since };
    this._known = same
      ? kept.map(known => (known === same ? now : known))
      : [...kept, now];
  }

  /**
   * Those that are yet to end and the last ones that have ended, by age.
   */
  private _known: readonly IKnownJob[] = [];
  private _cancelled = new Set<string>();

  /**
   * How often a kernel has ended. What a job's code raises because of that is not the
   * job's problem.
   */
  private _ends = 0;
}

/**
 * The namespace for `Jobs` statics.
 */
export namespace Jobs {
  /**
   * The callbacks.
   */
  export interface IOptions {
    /**
     * Called on every change.
     */
    onChange: (job: JobState | null) => void;

    /**
     * Called when a job has ended, whether it succeeded or not.
     */
    onEnd: (job: JobState) => void;

    /**
     * Called with what a job's code raised.
     */
    onError: (error: unknown) => void;

    /**
     * Called when the kernel's state is unknown and has to be requested.
     */
    onLost: () => void;
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}
