import { ISignal, Signal } from '@lumino/signaling';
import { RequestError } from '../protocol/client';
import { sameAddress, type IChoice } from './artifacts';
import { problemOf } from './explain';
import type { ArtifactResult, Problem } from './types';

/**
 * What one side has to show.
 *
 * - `empty`: there is no report to choose from; `problem` says why.
 * - `loading`: the first text is on its way.
 * - `missing`: there is no such text; `problem` says why.
 * - `data`: the text; `pending` while a newer one is on its way.
 */
export type SideState =
  | { kind: 'empty'; problem: Problem | null }
  | { kind: 'loading'; choice: IChoice }
  | { kind: 'missing'; choice: IChoice; problem: Problem }
  | {
      kind: 'data';
      choice: IChoice;
      result: ArtifactResult;
      pending: boolean;
    };

/** Requests an artifact's text. */
export type Fetch = (
  variant: string,
  compilation: string,
  artifact: string
) => Promise<ArtifactResult>;

/**
 * Loads the text of one side. Independent of widgets.
 *
 * The old text stays until the new one has loaded, so that flipping a switch does not flicker;
 * an answer that is no longer needed is dropped.
 */
export class SideLoader {
  constructor(fetch: Fetch) {
    this._fetch = fetch;
  }

  get state(): SideState {
    return this._state;
  }

  /** Whether the last text did not come because the connection was lost. */
  get isLost(): boolean {
    return this._isLost;
  }

  /** Emitted when the state has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Show nothing, with the reason. */
  clear(problem: Problem): void {
    this._restart();
    this._set({ kind: 'empty', problem });
  }

  /** Change the reason why nothing is shown. */
  refuse(choice: IChoice, problem: Problem): void {
    this._restart();
    this._set({ kind: 'missing', choice, problem });
  }

  /** Forget the shown text: the next one belongs to another subject. */
  forget(): void {
    this._restart();
    this._state = { kind: 'empty', problem: null };
  }

  /**
   * Fetch a text and show it.
   *
   * @returns Resolves when the answer has come, or has been found stale.
   */
  async load(choice: IChoice): Promise<void> {
    const ticket = this._restart();
    const { variant, compilation, artifact } = choice.address;
    const old = this._state;
    this._set(
      old.kind === 'data'
        ? { ...old, pending: !sameAddress(old.choice.address, choice.address) }
        : { kind: 'loading', choice }
    );
    let next: SideState;
    let isLost = false;
    try {
      const result = await this._fetch(variant, compilation, artifact);
      next = {
        kind: 'data',
        choice,
        result: sameAsBefore(old, choice, result) ?? result,
        pending: false
      };
    } catch (reason) {
      next = { kind: 'missing', choice, problem: problemOf(reason) };
      isLost = reason instanceof RequestError && reason.kind === 'closed';
    }
    if (ticket === this._ticket) {
      this._isLost = isLost;
      this._set(next);
    }
  }

  /** Drop the current request. */
  private _restart(): number {
    this._isLost = false;
    return ++this._ticket;
  }

  private _set(state: SideState): void {
    this._state = state;
    this._changed.emit();
  }

  private _fetch: Fetch;
  private _state: SideState = { kind: 'empty', problem: null };
  private _isLost = false;
  private _ticket = 0;
  private _changed = new Signal<this, void>(this);
}

/**
 * The result that is shown already, when the new one says the same. A report's new revision mostly
 * concerns something else, and the editor need not be built anew.
 */
function sameAsBefore(
  old: SideState,
  choice: IChoice,
  result: ArtifactResult
): ArtifactResult | null {
  return old.kind === 'data' &&
    sameAddress(old.choice.address, choice.address) &&
    old.result.text === result.text &&
    besidesText(old.result) === besidesText(result)
    ? old.result
    : null;
}

/** All but the text, which is long: of a kernel, that it has been compiled since, too. */
function besidesText(result: ArtifactResult): string {
  return JSON.stringify({ ...result, text: '' });
}
