import type { ISignal } from '@lumino/signaling';
import type { Sweep, Variant } from '../protocol/types';

/**
 * What is to be swept, and how much each cell may take.
 */
export interface ISweepOptions {
  readonly variants: readonly Variant[];

  /**
   * Name → the arguments as written in a call; the subject's own where there
   * are none.
   */
  readonly shapes?: Readonly<Record<string, string>>;

  /**
   * After so long a cell is ended, in seconds.
   */
  readonly timeout?: number;

  /**
   * How long each cell is timed, in seconds.
   */
  readonly seconds?: number;

  /**
   * Whether finished cells of an earlier sweep are taken over.
   */
  readonly resume?: boolean;
}

/**
 * A subject under many variants, as a view sees it.
 */
export interface ISweeping {
  /**
   * The sweep of the selected subject, completed while it goes on; null where
   * there is none, or nobody has asked for it yet.
   */
  readonly sweep: Sweep | null;
  readonly sweepChanged: ISignal<unknown, Sweep | null>;

  /**
   * Get the sweep as it stands. A view that shows it calls this first: nothing
   * is fetched while nobody looks.
   */
  loadSweep(): Promise<void>;

  /**
   * Begin a sweep. It runs in processes of its own, beside the kernel's main
   * thread.
   */
  startSweep(options: ISweepOptions): Promise<void>;

  /**
   * End the sweep; its finished cells stay.
   */
  cancelSweep(): Promise<void>;
}
