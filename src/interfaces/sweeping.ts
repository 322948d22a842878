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

  /**
   * The name of the executor that runs the cells; the kernel's machine where there is
   * none.
   */
  readonly executor?: string;
}

/**
 * A subject under many variants, as a view sees it.
 */
export interface ISweeping {
  /**
   * The sweep of the selected subject, updated while it runs; null if there is none or
   * it has not been requested yet.
   */
  readonly sweep: Sweep | null;
  readonly sweepChanged: ISignal<unknown, Sweep | null>;

  /**
   * Get the current state of the sweep. A view that shows it calls this first: nothing
   * is fetched while no view shows it.
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
