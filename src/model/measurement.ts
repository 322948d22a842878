import type { Measurement, Series } from '../protocol/types';

/**
 * A measurement, updated by a push.
 *
 * @param known - The measurement with all its samples so far; null if there is none.
 * @param update - The measurement with its samples from `since` on.
 *
 * @returns The measurement with all its samples; `known` if `update` is older; null
 * if samples in between are missing.
 */
export function complete(
  known: Measurement | null,
  update: Measurement
): Measurement | null {
  if (known === null || known.id !== update.id) {
    return update.since === 0 ? update : null;
  }
  if (update.rounds < known.rounds) {
    return known;
  }
  if (update.since > known.rounds) {
    return null;
  }
  const series = update.series.map((entry): Series => {
    const before = known.series.find(({ name }) => name === entry.name);
    if (!before) {
      return entry;
    }
    const count = Math.max(0, update.since - entry.first);
    return {
      ...entry,
      samples_us: [...before.samples_us.slice(0, count), ...entry.samples_us]
    };
  });
  return { ...update, since: 0, series };
}

/**
 * The measurement of one subject at a time: merges pushed samples, and requests
 * missing ones.
 */
export class MeasurementKeeper {
  constructor(private _options: MeasurementKeeper.IOptions) {}

  /**
   * With all its samples.
   */
  get current(): Measurement | null {
    return this._current;
  }

  /**
   * Forget the state: another subject or kernel is shown.
   */
  clear(): void {
    this._ticket++;
    this._asking = null;
    this._late = [];
    this._set(null);
  }

  /**
   * Process an update from the kernel.
   */
  take(update: Measurement): void {
    if (update.state === 'none') {
      this._set(null);
      return;
    }
    const whole = complete(this._current, update);
    if (whole) {
      this._set(whole);
      return;
    }
    if (this._asking) {
      // The answer that is on its way may be older.
      this._late.push(update);
    }
    void this.load();
  }

  /**
   * Ask the kernel for what is missing. Calls while an answer is on its way are
   * one request.
   */
  load(): Promise<void> {
    this._asking ??= this._load(this._ticket);
    return this._asking;
  }

  private async _load(ticket: number): Promise<void> {
    try {
      const known = this._current;
      let answer = await this._options.request(known?.rounds ?? 0);
      if (ticket === this._ticket && complete(known, answer) === null) {
        // It began anew meanwhile.
        answer = await this._options.request(0);
      }
      if (ticket === this._ticket) {
        this._settle(answer);
      }
    } catch (error) {
      if (ticket === this._ticket) {
        this._asking = null;
        this._late = [];
        this._options.onError(error);
      }
    }
  }

  private _settle(answer: Measurement): void {
    const late = this._late;
    this._asking = null;
    this._late = [];
    this.take(answer);
    // Updates of an earlier measurement are obsolete.
    late
      .filter(({ id }) => id === this._current?.id)
      .forEach(update => this.take(update));
  }

  private _set(measurement: Measurement | null): void {
    if (measurement !== this._current) {
      this._current = measurement;
      this._options.onChange(measurement);
    }
  }

  private _current: Measurement | null = null;
  private _asking: Promise<void> | null = null;

  /**
   * Updates that came while a request was pending, and do not continue the
   * current state.
   */
  private _late: Measurement[] = [];

  /**
   * Changes with the subject: a late reply about another one is dropped.
   */
  private _ticket = 0;
}

/**
 * The namespace for `MeasurementKeeper` statics.
 */
export namespace MeasurementKeeper {
  /**
   * How to request a measurement, and the callbacks.
   */
  export interface IOptions {
    /**
     * Gets the measurement with the samples from a round on.
     */
    request: (since: number) => Promise<Measurement>;
    onChange: (measurement: Measurement | null) => void;
    onError: (error: unknown) => void;
  }
}
