import type { IConnection } from '../protocol/connection';
import type { JobState } from '../protocol/types';

/**
 * How far a state is: events and replies may overtake each other.
 */
const RANK: Record<JobState['state'], number> = {
  queued: 0,
  running: 1,
  done: 2,
  cancelled: 2,
  failed: 2
};

/**
 * Whether a job is yet to end.
 */
export function isActive(job: JobState | null): boolean {
  return job !== null && RANK[job.state] < RANK.done;
}

/**
 * The job to show, of the one that is shown and the one just told of.
 *
 * A running job stays until it ends: others are queued behind it. Of one and
 * the same job a late reply may say less than an event said before.
 */
function newerJob(known: JobState | null, update: JobState): JobState {
  if (known === null || known.state === 'queued') {
    return update;
  }
  const isStale =
    known.id === update.id
      ? RANK[known.state] > RANK[update.state]
      : known.state === 'running' && update.state !== 'running';
  return isStale ? known : update;
}

/**
 * The job of which the news of its end was missed.
 *
 * @param before - What was known.
 * @param job - What the kernel does now.
 */
function endedSince(
  before: JobState | null,
  job: JobState | null
): JobState | null {
  if (before === null || !isActive(before)) {
    return null;
  }
  if (before.id !== job?.id) {
    // The reply does not say how it ended; the report has its results.
    return { ...before, state: 'done' };
  }
  return isActive(job) ? null : job;
}

/**
 * How long a cancel request may take before the kernel is interrupted all the
 * same, in milliseconds.
 */
const CANCEL_PATIENCE = 250;

/**
 * How long a measurement may take to end by itself once it was told to, in
 * milliseconds: it does at its next round. An interrupt would often be too late
 * for it, and meet the cell that waited.
 */
const ROUND_PATIENCE = 2000;
const POLL_MS = 50;

/**
 * How long the news of a job's end may take after its code has ended, in
 * milliseconds.
 */
const END_EVENT_TIMEOUT_MS = 500;

/**
 * The work on a kernel's main thread: starts it, follows it, stops it.
 */
export class Jobs {
  constructor(private _options: Jobs.IOptions) {}

  /**
   * The job, the last one if it has ended.
   */
  get current(): JobState | null {
    return this._current;
  }

  /**
   * When the job began, or began to wait, by this page's clock.
   */
  get since(): number {
    return this._since;
  }

  /**
   * Take the kernel's account of what it does, whatever was known before.
   */
  reset(job: JobState | null): void {
    const before = this._current;
    this._take(job);
    const ended = endedSince(before, job);
    if (ended) {
      this._options.onEnd(ended);
    }
    this._options.onChange(job);
  }

  /**
   * Take news of a job.
   */
  update(job: JobState): void {
    this._take(newerJob(this._current, job));
    if (!isActive(job)) {
      this._options.onEnd(job);
    }
    this._options.onChange(this._current);
  }

  /**
   * The kernel went away, and its work with it.
   */
  end(): void {
    this._ends++;
    // The next kernel counts its jobs from 1 again.
    this._cancelled.clear();
    if (this._current && isActive(this._current)) {
      this.update({ ...this._current, state: 'cancelled' });
    }
  }

  /**
   * Have the kernel do a job.
   *
   * @param code - What to execute; empty if it was started already.
   */
  start(connection: IConnection, job: JobState, code: string): void {
    const known = this._current;
    const hasEnded = known?.id === job.id && !isActive(known);
    // The news of its end may have overtaken the reply.
    this.update(hasEnded ? known : job);
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
        const isTold =
          this._current?.id === job.id && this._current.error !== null;
        const isGone = connection.isDisposed || ends !== this._ends;
        if (isWanted() && !isTold && !isGone) {
          this._options.onError(error);
          this._options.onLost();
        }
      });
  }

  /**
   * Stop the job.
   */
  async cancel(connection: IConnection): Promise<void> {
    const job = this._current;
    if (!job || !isActive(job)) {
      return;
    }
    this._cancelled.add(job.id);
    const reply = connection.request('cancel', { job: job.id });
    // A kernel without subshells reads the request only once it is free.
    await Promise.race([reply, sleep(CANCEL_PATIENCE)]);
    // What runs beside the main thread ends without an interrupt, which would
    // meet the user's cell; a job may have got there since it was canceled.
    const isRunning = () =>
      this._current?.id === job.id &&
      this._current.state === 'running' &&
      !this._current.aside;
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
   * The code has ended, so the job has: an account that still says otherwise
   * missed a push.
   */
  private async _codeEnded(id: string): Promise<void> {
    const isOpen = () =>
      this._current?.id === id &&
      isActive(this._current) &&
      // What goes on beside the main thread outlasts the code.
      !this._current.aside;
    if (isOpen()) {
      await sleep(END_EVENT_TIMEOUT_MS);
    }
    if (isOpen()) {
      this._options.onLost();
    }
  }

  private _take(job: JobState | null): void {
    const { id, state } = this._current ?? {};
    // Later news of the same may have been on its way for longer.
    if (job && isActive(job) && (job.id !== id || job.state !== state)) {
      this._since = Date.now() - 1000 * job.elapsed_s;
    }
    this._current = job;
  }

  private _current: JobState | null = null;
  private _since = 0;
  private _cancelled = new Set<string>();

  /**
   * How often a kernel went away: what its code raises by that is no problem of
   * the job.
   */
  private _ends = 0;
}

/**
 * The namespace for `Jobs` statics.
 */
export namespace Jobs {
  /**
   * Whom to tell.
   */
  export interface IOptions {
    /**
     * Told of every change.
     */
    onChange: (job: JobState | null) => void;

    /**
     * Told when a job has ended, however it went.
     */
    onEnd: (job: JobState) => void;

    /**
     * Takes what a job's code raised.
     */
    onError: (error: unknown) => void;

    /**
     * Told when it is unclear what the kernel does: ask it.
     */
    onLost: () => void;
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}
