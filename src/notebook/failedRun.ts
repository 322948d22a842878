import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type { ISubjectModel } from '../interfaces/subject';
import { INSPECTION } from '../model/handler';

/**
 * Knows whether the last `%%compile` cell that a notebook ran failed without a report, so that
 * the model still has an earlier run's.
 */
export class FailedRun implements IDisposable {
  constructor(
    private _notebook: Notebook,
    private _model: ISubjectModel
  ) {
    NotebookActions.executionScheduled.connect(this._onScheduled, this);
    NotebookActions.executed.connect(this._onExecuted, this);
  }

  /**
   * Emitted when `isLast` may have changed otherwise than by another report.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Whether the report is of a run before the last one.
   */
  get isLast(): boolean {
    return this._failedWith !== null && this._failedWith === this._reportKey();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  private _onScheduled(_: unknown, { notebook, cell }: IRun): void {
    if (notebook === this._notebook && isInspection(cell)) {
      this._before = this._reportKey();
    }
  }

  private _onExecuted(
    _: unknown,
    { notebook, cell, success }: IRun & { success: boolean }
  ): void {
    if (notebook === this._notebook && isInspection(cell)) {
      this._failedWith = success ? null : this._before;
      this._changed.emit();
    }
  }

  /**
   * Identifies the state of the report, which each run changes; null without a report.
   */
  private _reportKey(): string | null {
    const { report } = this._model;
    return report && `${report.subject.id} ${report.revision}`;
  }

  private _before: string | null = null;
  private _failedWith: string | null = null;
  private _isDisposed = false;
  private _changed = new Signal<this, void>(this);
}

interface IRun {
  readonly notebook: Notebook;
  readonly cell: Cell;
}

function isInspection({ model }: Cell): boolean {
  return INSPECTION.test(model.sharedModel.getSource());
}
