import type { Sweep, SweepCell } from '../protocol/types';

/**
 * The key of a cell. Two equal shapes have the same key.
 */
export function cellId({ key, shape }: SweepCell): string {
  return `${key} ${shape}`;
}

/**
 * Whether a cell has ended, successfully or not.
 */
function isFinished({ state }: SweepCell): boolean {
  return state !== 'waiting' && state !== 'running';
}

/**
 * Whether a sweep has ended, successfully or not.
 */
export function isEnded({ state }: Sweep): boolean {
  return state !== 'waiting' && state !== 'running';
}

/**
 * A sweep, updated by a push.
 *
 * @param update - The sweep with only the cells that have changed.
 *
 * @returns Null if `update` is of another sweep.
 */
export function completeSweep(
  known: Sweep | null,
  update: Sweep
): Sweep | null {
  if (known === null || known.id !== update.id) {
    return null;
  }
  const changed = new Map(update.cells.map(cell => [cellId(cell), cell]));
  return {
    ...update,
    cells: known.cells.map(cell => changed.get(cellId(cell)) ?? cell)
  };
}

/**
 * Keeps the sweep of one subject up to date with what the kernel pushes, once a view
 * has requested it.
 */
export class SweepKeeper {
  constructor(private _options: SweepKeeper.IOptions) {}

  /**
   * With all its cells.
   */
  get current(): Sweep | null {
    return this._current;
  }

  /**
   * Forget the sweep: it is of another subject or another kernel.
   */
  clear(): void {
    this._ticket++;
    this._loading = null;
    this._late = [];
    this._isWanted = false;
    this._set(null);
  }

  /**
   * Process an update from the kernel. It waits for the reply to a current
   * request, which may be older.
   */
  take(update: Sweep): void {
    if (this._loading) {
      this._late.push(update);
      return;
    }
    const whole = completeSweep(this._current, update);
    if (whole) {
      this._set(whole);
    } else if (this._isWanted) {
      void this.load();
    }
  }

  /**
   * Process the end of the kernel, which ends the sweep.
   */
  end(): void {
    const { _current: sweep } = this;
    if (sweep && !isEnded(sweep)) {
      this._set({
        ...sweep,
        state: 'cancelled',
        status: '',
        status_detail: '',
        cells: sweep.cells.map(cell =>
          isFinished(cell) ? cell : { ...cell, state: 'cancelled', step: '' }
        )
      });
    }
  }

  /**
   * The kernel is connected again: request the sweep if a view shows it.
   */
  catchUp(): void {
    if (this._isWanted) {
      void this.load();
    }
  }

  /**
   * Request the whole sweep. Calls during a request share it.
   */
  load(): Promise<void> {
    this._loading ??= this._load(this._options.request);
    return this._loading;
  }

  /**
   * Start a sweep.
   *
   * @param request - Requests the sweep from the kernel; resolves with all its
   *   cells.
   */
  async begin(request: () => Promise<Sweep | null>): Promise<void> {
    const ticket = this._ticket;
    await this._loading;
    if (ticket !== this._ticket) {
      // Another subject is looked at meanwhile: this sweep is begun, and not shown.
      await request();
      return;
    }
    this._loading = this._load(request);
    return this._loading;
  }

  private async _load(request: () => Promise<Sweep | null>): Promise<void> {
    const ticket = this._ticket;
    this._isWanted = true;
    try {
      const whole = await request();
      if (ticket === this._ticket) {
        this._settle(whole);
      }
    } catch (error) {
      if (ticket === this._ticket) {
        this._settle(this._current);
        this._options.onError(error);
      }
    }
  }

  private _settle(whole: Sweep | null): void {
    const late = this._late;
    this._loading = null;
    this._late = [];
    this._set(
      late.reduce(
        (sweep, update) => completeSweep(sweep, update) ?? sweep,
        whole
      )
    );
  }

  private _set(sweep: Sweep | null): void {
    if (sweep !== this._current) {
      this._current = sweep;
      this._options.onChange(sweep);
    }
  }

  private _current: Sweep | null = null;
  private _loading: Promise<void> | null = null;

  /**
   * What was pushed while a request was pending.
   */
  private _late: Sweep[] = [];
  private _isWanted = false;

  /**
   * Changes with the subject: a late reply about another one is dropped.
   */
  private _ticket = 0;
}

/**
 * The namespace for `SweepKeeper` statics.
 */
export namespace SweepKeeper {
  /**
   * How to request a sweep, and the callbacks.
   */
  export interface IOptions {
    /**
     * Gets the sweep with all its cells; null where there is none.
     */
    request: () => Promise<Sweep | null>;
    onChange: (sweep: Sweep | null) => void;
    onError: (error: unknown) => void;
  }
}
