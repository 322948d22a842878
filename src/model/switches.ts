import type { AddVariantResult, JobState, Variant } from '../protocol/types';
import { DEFAULT_VARIANT, isSameVariant } from './variants';

/**
 * How long to wait for the next flip of a switch before code is generated for this
 * one, in milliseconds.
 */
const DEBOUNCE = 120;

/**
 * The switches of one subject: the requested variant, and whether its code is
 * being generated.
 */
export class Switches {
  constructor(private _options: Switches.IOptions) {}

  /**
   * The variant that was last requested.
   */
  get requested(): Variant {
    return this._requested;
  }

  /**
   * Whether its code is being generated.
   */
  get pending(): boolean {
    return this._pending !== null;
  }

  /**
   * Show a variant of the report; a pending request is dropped.
   */
  reset(variant: Variant = DEFAULT_VARIANT): void {
    this._stop();
    this._requested = variant;
    this._options.onChange();
  }

  /**
   * Set switches, and request the resulting variant.
   */
  set(change: Partial<Variant>): void {
    const requested = { ...this._requested, ...change };
    if (isSameVariant(requested, this._requested)) {
      return;
    }
    this._stop();
    this._requested = requested;
    const pending: IPending = { job: null, timer: 0 };
    this._pending = pending;
    if (this._options.isReady(requested)) {
      void this._request(pending);
    } else {
      const request = () => void this._request(pending);
      pending.timer = window.setTimeout(request, DEBOUNCE);
    }
    this._options.onChange();
  }

  /**
   * Process the end of a job. If it was to generate the requested variant, the variant
   * is no longer pending, unless it has to be requested again.
   *
   * @returns Whether the pending variant was this job's and is no longer pending.
   */
  jobEnded({ id, needs_main_thread }: JobState): boolean {
    const isOwn = this._pending?.job === id;
    if (isOwn && needs_main_thread) {
      this._pending = { job: null, timer: 0 };
      void this._request(this._pending);
      return false;
    }
    if (isOwn) {
      this._stop();
      this._options.onChange();
    }
    return isOwn;
  }

  dispose(): void {
    this._stop();
  }

  private async _request(pending: IPending): Promise<void> {
    const isStale = () => this._pending !== pending;
    const requested = this._requested;
    try {
      const answer = await this._options.request(requested);
      if (isStale()) {
        this._leave(requested, answer);
        return;
      }
      pending.job = answer.job?.id ?? null;
      await this._options.onAnswer(answer);
      if (!isStale() && pending.job === null) {
        this._pending = null;
        this._options.onChange();
      }
    } catch (error) {
      if (!isStale()) {
        this._pending = null;
        this._options.onError(error);
        this._options.onChange();
      }
    }
  }

  /**
   * Drop the pending request, unless the same variant is requested again, which
   * the same job answers.
   */
  private _leave(requested: Variant, answer: AddVariantResult): void {
    if (!this._pending || !isSameVariant(requested, this._requested)) {
      this._options.onLeft(answer);
    }
  }

  private _stop(): void {
    clearTimeout(this._pending?.timer);
    this._pending = null;
  }

  private _requested: Variant = DEFAULT_VARIANT;
  private _pending: IPending | null = null;
}

/**
 * The namespace for `Switches` statics.
 */
export namespace Switches {
  /**
   * The callbacks of the switches.
   */
  export interface IOptions {
    /**
     * Whether the code of a variant exists already; it is then requested at
     * once.
     */
    isReady: (variant: Variant) => boolean;

    /**
     * Requests a variant.
     */
    request: (variant: Variant) => Promise<AddVariantResult>;

    /**
     * Called with the reply to the last request.
     */
    onAnswer: (answer: AddVariantResult) => Promise<void>;

    /**
     * Called with the reply to a request that is out of date.
     */
    onLeft: (answer: AddVariantResult) => void;

    /**
     * Called with an error.
     */
    onError: (error: unknown) => void;

    /**
     * Called when `requested` or `pending` has changed.
     */
    onChange: () => void;
  }
}

interface IPending {
  /**
   * The job that generates the variant's code, once the kernel has named it.
   */
  job: string | null;
  timer: number;
}
