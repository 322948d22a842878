import type { ISignal } from '@lumino/signaling';
import type { Sweep, Variant } from '../protocol/types';

/**
 * The variants and shapes of a sweep, and the limits of each cell.
 */
export interface ISweepOptions {
  readonly variants: readonly Variant[];

  /**
   * Name → the arguments as written in a call; by default the subject's own.
   */
  readonly shapes?: Readonly<Record<string, string>>;

  /**
   * The time limit of a cell, in seconds.
   */
  readonly timeout?: number;

  /**
   * How long each cell is timed, in seconds.
   */
  readonly seconds?: number;

  /**
   * Whether to reuse finished cells of an earlier sweep.
   */
  readonly resume?: boolean;

  /**
   * The name of the executor that runs the cells; by default the kernel's
   * machine.
   */
  readonly executor?: string;
}

/**
 * The sweep of a subject, as views use it.
 */
export interface ISweeping {
  /**
   * The sweep of the selected subject, updated while it runs; null if there is none or
   * it has not been requested yet.
   */
  readonly sweep: Sweep | null;
  readonly sweepChanged: ISignal<unknown, Sweep | null>;

  /**
   * Get the current state of the sweep. A view that shows the sweep calls this
   * first; without such a view, nothing is fetched.
   */
  loadSweep(): Promise<void>;

  /**
   * Start a sweep. It runs in separate processes, so the kernel's main thread
   * stays free.
   */
  startSweep(options: ISweepOptions): Promise<void>;

  /**
   * Cancel the sweep; its finished cells are kept.
   */
  cancelSweep(): Promise<void>;
}
