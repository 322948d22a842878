import type { TranslationBundle } from '@jupyterlab/translation';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { isActive } from '../model/jobs';
import { choose, type IAddress, type IChoice, type Side } from './artifacts';
import { whyEmpty, whyNothing } from './explain';
import { SideLoader } from './loader';
import { otherText } from './fallbackText';
import type { ISubjectModel, ReportSummary } from './types';

export const SIDES: readonly Side[] = ['left', 'right'];

/**
 * What the two sides show: follows the model, and what the user picked here.
 * Independent of widgets.
 *
 * The variants are the model's, shared with the other views. The compilation is the model's until
 * one side picks its own, so that two compilations of one frame can be compared. The artifact is
 * this view's.
 */
export class Sides implements IDisposable {
  constructor(model: ISubjectModel, trans: TranslationBundle) {
    this._model = model;
    this._trans = trans;
    const fetch = (variant: string, compilation: string, artifact: string) =>
      model.getArtifact(variant, compilation, artifact);
    this._loaders = {
      left: new SideLoader(fetch),
      right: new SideLoader(fetch)
    };
    for (const side of SIDES) {
      this._loaders[side].changed.connect(() => this._reload(side), this);
    }
    model.reportChanged.connect(this.refresh, this);
    model.selectedVariantsChanged.connect(this.refresh, this);
    model.compilationChanged.connect(this._unpinCompilations, this);
    model.statusChanged.connect(this._updateEmptyStates, this);
    model.requestedChanged.connect(this.refresh, this);
    model.jobChanged.connect(this._onWorkChanged, this);
    this._disposal = new DisposableDelegate(() => Signal.clearData(this));
    this.refresh();
  }

  /** Emitted when either side shows another text. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._disposal.isDisposed;
  }

  /** A side's loader, for its state. */
  loader(side: Side): SideLoader {
    return this._loaders[side];
  }

  /** The text that a side should show; null while there is no report. */
  choice(side: Side): IChoice | null {
    return this._choices[side];
  }

  dispose(): void {
    this._disposal.dispose();
  }

  /** Show another text on a side. */
  pick(side: Side, change: Partial<IAddress>): void {
    if (change.artifact !== undefined) {
      this._artifacts[side] = change.artifact;
    }
    if (change.compilation !== undefined) {
      this._compilations[side] = change.compilation;
    }
    if (change.variant !== undefined) {
      this._model.selectedVariants = {
        ...this._variants(),
        [side]: change.variant
      };
    }
    this.refresh();
  }

  /** Swap the sides. */
  swap(): void {
    const { left, right } = this._variants();
    const [a, b] = [this._choices.left, this._choices.right];
    // What stands on the right because nothing was picked there stays in sight, too.
    const [before, beside] = this._isBeside
      ? [a?.address.compilation ?? null, b?.address.compilation ?? null]
      : [null, null];
    this._artifacts = {
      left: b?.address.artifact ?? null,
      right: a?.address.artifact ?? null
    };
    this._compilations = {
      left: this._compilations.right ?? beside,
      right: this._compilations.left ?? before
    };
    this._model.selectedVariants = { left: right, right: left };
    this.refresh();
  }

  /** Settle anew what each side shows, and fetch what changed. */
  refresh(): void {
    const { report } = this._model;
    if (!report) {
      this._choices = { left: null, right: null };
      this._seen = { left: '', right: '' };
      const problem = whyEmpty(this._model.status.kind, this._trans);
      SIDES.forEach(side => this._loaders[side].clear(problem));
      return;
    }
    if (report.subject.id !== this._subject) {
      this._subject = report.subject.id;
      this._artifacts = { left: null, right: null };
      this._compilations = { left: null, right: null };
      this._seen = { left: '', right: '' };
      SIDES.forEach(side => this._loaders[side].forget());
    }
    const choices = this._chooseSides(report);
    for (const side of SIDES) {
      const choice = choices[side];
      this._choices[side] = choice;
      const problem = whyNothing(
        choice,
        report,
        { pending: this._isWorking(), isLive: this._model.isLive },
        this._trans
      );
      // Signals come in bursts; only what makes a difference is fetched or said again.
      const seen = JSON.stringify([report.revision, choice.address, problem]);
      if (seen === this._seen[side]) {
        continue;
      }
      this._seen[side] = seen;
      if (problem) {
        this._loaders[side].refuse(choice, problem);
      } else {
        void this._loaders[side].load(choice);
      }
    }
    this._changed.emit();
  }

  /** What each side is to show; not one text twice, unless the user picked it so. */
  private _chooseSides(report: ReportSummary): Record<Side, IChoice> {
    const variants = this._variants();
    const [left, rightOwn] = SIDES.map(side =>
      choose(
        report,
        side,
        variants[side],
        this._compilations[side] ?? this._model.compilation,
        this._artifacts[side]
      )
    );
    const right =
      this._artifacts.right === null
        ? otherText(left, rightOwn, this._compilations.right !== null)
        : rightOwn;
    this._isBeside = right !== rightOwn;
    return { left, right };
  }

  /** The model's variants; where none is compiled, the one that says so. */
  private _variants(): Record<Side, string> {
    const { report, selectedVariants } = this._model;
    const only = report?.variants[0]?.name ?? '';
    return {
      left: selectedVariants.left || only,
      right: selectedVariants.right || only
    };
  }

  /**
   * Without a report, or with an empty one, the kernel's state is what there is to say. Otherwise it
   * changes nothing, but for what was lost with the connection: that is fetched again once there is
   * another.
   */
  private _updateEmptyStates(): void {
    const { report, status } = this._model;
    const lost = SIDES.filter(side => this._loaders[side].isLost);
    const isReady = status.kind === 'ready';
    if (isReady) {
      this._retried.clear();
      lost.forEach(side => (this._seen[side] = ''));
    }
    if (!report?.variants.length || (isReady && lost.length > 0)) {
      this.refresh();
    }
  }

  /** Tell of a side's state; what was lost only shortly after the connection is back, is fetched. */
  private _reload(side: Side): void {
    const isBack = this._model.status.kind === 'ready';
    if (this._loaders[side].isLost && isBack && !this._retried.has(side)) {
      this._retried.add(side);
      this._seen[side] = '';
      this.refresh();
    } else {
      this._changed.emit();
    }
  }

  /** Whether the kernel is at work on the report. */
  private _isWorking(): boolean {
    const { job, pending, report } = this._model;
    return pending || (isActive(job) && job?.subject === report?.subject.id);
  }

  /** A job's progress changes nothing here; only its start and its end do. */
  private _onWorkChanged(): void {
    const isWorking = this._isWorking();
    if (isWorking !== this._wasWorking) {
      this._wasWorking = isWorking;
      this.refresh();
    }
  }

  private _unpinCompilations(): void {
    this._compilations = { left: null, right: null };
    this.refresh();
  }

  private _model: ISubjectModel;
  private _trans: TranslationBundle;
  private _loaders: Record<Side, SideLoader>;
  private _disposal: DisposableDelegate;
  private _subject: string | null = null;
  private _wasWorking = false;
  /** Whether the right side shows what goes with the left, for want of another text. */
  private _isBeside = false;
  private _choices: Record<Side, IChoice | null> = { left: null, right: null };
  private _artifacts: Record<Side, string | null> = { left: null, right: null };
  private _compilations: Record<Side, string | null> = {
    left: null,
    right: null
  };
  /** The sides that were fetched again since the connection is back. */
  private _retried = new Set<Side>();
  private _seen: Record<Side, string> = { left: '', right: '' };
  private _changed = new Signal<this, void>(this);
}
