import type { Steps } from '../../protocol/types';

/**
 * The variants whose wrappers are compared; null if there is none.
 */
export interface IPair {
  readonly python: string | null;
  readonly cpp: string | null;
}

/**
 * A graph with its wrappers; one of them may be missing.
 */
export interface IGraph {
  /**
   * Identifies the graph within its compilation.
   */
  readonly name: string;
  readonly direction: Steps['direction'];

  /**
   * torch may compile several graphs of one direction: the first is 1.
   */
  readonly number: number;
  readonly python: Steps | null;
  readonly cpp: Steps | null;
}

/**
 * The steps of the two wrappers of a compilation.
 */
export interface IWrappers {
  readonly pair: IPair;
  readonly python: readonly Steps[];
  readonly cpp: readonly Steps[];

  /**
   * Why steps were not measured, and why a wrapper is missing, by variant.
   */
  readonly reasons: readonly string[];
}
