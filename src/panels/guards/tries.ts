import type { Problem, WhatIfResult } from '../../protocol/types';

/**
 * Arguments that were tried, and what came of it.
 */
export interface ITry {
  readonly id: number;
  readonly variant: string;
  readonly args: string;

  /**
   * Both null while the answer is on its way.
   */
  readonly result: WhatIfResult | null;
  readonly problem: Problem | null;
}

/**
 * So many tries are kept.
 */
const MAX_TRIES = 20;

/**
 * What was tried of one subject, the last first.
 */
export class Tries {
  /**
   * @param onChange - Called when there is a new try, or an answer.
   */
  constructor(private _onChange: () => void) {}

  get all(): readonly ITry[] {
    return this._all;
  }

  /**
   * Note a try.
   *
   * @returns To be called with its answer.
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
   * Forget all.
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
