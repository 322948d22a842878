import type { Problem, WhatIfResult } from '../../protocol/types';

/**
 * Arguments that were tried, and the answer.
 */
export interface ITry {
  readonly id: number;
  readonly variant: string;
  readonly args: string;

  /**
   * Both null until the answer arrives.
   */
  readonly result: WhatIfResult | null;
  readonly problem: Problem | null;
}

/**
 * The maximum number of kept tries.
 */
const MAX_TRIES = 20;

/**
 * The tries of one subject, latest first.
 */
export class Tries {
  /**
   * @param onChange - Called for each new try and each answer.
   */
  constructor(private _onChange: () => void) {}

  get all(): readonly ITry[] {
    return this._all;
  }

  /**
   * Adds a try.
   *
   * @returns A function to call with its answer.
   */
  add(
    variant: string,
    args: string
  ): (answer: Pick<ITry, 'result' | 'problem'>) => void {
    const id = this._next++;
    const entry: ITry = { id, variant, args, result: null, problem: null };
    const others = this._all.filter(
      attempt => attempt.args !== args || attempt.variant !== variant
    );
    this._set([entry, ...others]);
    return answer =>
      this._set(
        this._all.map(attempt =>
          attempt.id === id ? { ...attempt, ...answer } : attempt
        )
      );
  }

  /**
   * Removes all tries.
   */
  clear(): void {
    this._set([]);
  }

  private _set(tries: readonly ITry[]): void {
    this._all = tries.slice(0, MAX_TRIES);
    this._onChange();
  }

  private _all: readonly ITry[] = [];
  private _next = 0;
}
