import { ReactWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import * as React from 'react';
import { problemOf } from '../../protocol/client';
import type { ISubjectModel } from '../../interfaces/subject';
import type { IViewContext } from '../views';
import type { Listed } from './graphs';
import { graphsOf } from './graphs';
import { whyNothing, whyOnlyInductor } from './states/empty';
import type { IEmpty, ViewState } from './states/frame';
import { ViewFrame } from './states/frame';

/**
 * What a view shows.
 */
export interface IShown {
  readonly subject: string;

  /**
   * Empty for a view of the whole report.
   */
  readonly variant: string;

  /**
   * The compilation's id; empty for a view of a whole variant, or of several
   * compilations.
   */
  readonly compilation: string;
}

/**
 * A view of the model's variant, or of one of its compilations.
 *
 * It loads its data when it becomes visible, reloads it when the report
 * changes, and ignores answers that arrive too late. While hidden, it does
 * nothing.
 *
 * A view implements `load` and `present`, and `whyEmpty` for when there is
 * nothing to show.
 */
export abstract class ReportView<T> extends ReactWidget {
  constructor(
    protected readonly context: IViewContext,
    private _about: ReportView.IOptions
  ) {
    super();
    this.addClass('jp-Compilescope-view');
    this.addClass(`jp-Compilescope-${_about.name}`);
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _about.label);
    const { model } = context;
    model.statusChanged.connect(this.refresh, this);
    model.problemChanged.connect(this._onWorkChanged, this);
    model.jobChanged.connect(this._onWorkChanged, this);
    model.requestedChanged.connect(this._onWorkChanged, this);
    model.reportChanged.connect(this.refresh, this);
    model.variantChanged.connect(this.refresh, this);
    model.compilationChanged.connect(this.refresh, this);
    model.selectionChanged.connect(this._follow, this);
    model.linkedChanged.connect(this._follow, this);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._ticket++;
      super.dispose();
    }
  }

  /**
   * Loads what is shown.
   */
  protected abstract load(shown: IShown): Promise<T>;

  /**
   * Renders it.
   */
  protected abstract present(data: T, shown: IShown): JSX.Element;

  /**
   * Why there is nothing to show; null if there is something.
   */
  protected whyEmpty(_data: T, _shown: IShown): IEmpty | null {
    return null;
  }

  protected get model(): ISubjectModel {
    return this.context.model;
  }

  /**
   * The shown variant: the selected one.
   */
  protected get variant(): string {
    return this.model.variant;
  }

  protected get trans(): TranslationBundle {
    return this.context.trans;
  }

  /**
   * Loads what is to be shown now, unless it is loaded or loading.
   */
  protected refresh(): void {
    if (!this.isVisible || this.isDisposed) {
      return;
    }
    const { model, trans } = this;
    const { report } = model;
    const { isOfSubject } = this._about;
    const { isOfReport = isOfSubject, isOfVariant = isOfReport } = this._about;
    const compilation = isOfVariant ? '' : model.compilation;
    const shown: IShown = {
      subject: model.subject ?? '',
      variant: isOfReport ? '' : this.variant,
      compilation: this._listsGraphs() ? '' : compilation
    };
    const nothing =
      isOfSubject && report
        ? null
        : (whyNothing(
            model,
            { variant: model.variant, compilation },
            !!isOfVariant,
            trans
          ) ??
          (this._about.isOfInductor
            ? whyOnlyInductor(model, model.variant, trans)
            : null));
    if (nothing) {
      this._ticket++;
      this._key = null;
      this._set(nothing);
      return;
    }
    const place = JSON.stringify([
      shown.subject,
      shown.variant,
      shown.compilation
    ]);
    const key = `${place} ${report?.revision}`;
    if (key === this._key) {
      this.update();
      return;
    }
    // What was shown stays until the new data arrives, if it is of the same
    // subject.
    const isSame = place === this._place && this._state.kind === 'data';
    this._key = key;
    this._place = place;
    if (!isSame) {
      this._set({ kind: 'loading', label: trans.__('Loading…') });
    }
    void this._load(shown, ++this._ticket);
  }

  /**
   * Loads again what could not be loaded.
   */
  protected retry(): void {
    this._place = '';
    this.reload();
  }

  /**
   * Reloads; what is shown stays until the new data arrives.
   */
  protected reload(): void {
    this._key = null;
    this.refresh();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.refresh();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.refresh();
  }

  protected override onUpdateRequest(message: Message): void {
    if (this.isVisible) {
      super.onUpdateRequest(message);
    }
  }

  protected override render(): JSX.Element {
    return (
      <ViewFrame
        state={this._state}
        trans={this.trans}
        onRetry={() => this.retry()}
        show={({ data, shown }) => this.present(data, shown)}
      />
    );
  }

  /**
   * Whether any compilation has what it lists: otherwise it says why the shown one has
   * nothing.
   */
  private _listsGraphs(): boolean {
    const { lists } = this._about;
    return !!lists && graphsOf(this.model, this.variant, lists).length > 0;
  }

  private async _load(shown: IShown, ticket: number): Promise<void> {
    let state: ViewState<{ data: T; shown: IShown }>;
    try {
      const data = await this.load(shown);
      const empty = this.whyEmpty(data, shown);
      state = empty
        ? { kind: 'empty', ...empty }
        : { kind: 'data', data: { data, shown } };
    } catch (error) {
      state = { kind: 'error', problem: problemOf(error) };
    }
    if (ticket === this._ticket) {
      this._set(state);
    }
  }

  private _set(state: ViewState<{ data: T; shown: IShown }>): void {
    this._state = state;
    this.update();
  }

  /**
   * The reason why there is nothing to show may have changed.
   */
  private _onWorkChanged(): void {
    if (this._state.kind !== 'data' && this._key === null) {
      this.refresh();
    }
  }

  private _follow(): void {
    if (this.isVisible) {
      this.update();
    }
  }

  private _state: ViewState<{ data: T; shown: IShown }> = {
    kind: 'loading',
    label: ''
  };
  private _key: string | null = null;
  private _place = '';
  private _ticket = 0;
}

/**
 * The namespace for `ReportView` statics.
 */
export namespace ReportView {
  /**
   * The options of a view.
   */
  export interface IOptions {
    /**
     * The view's CSS class is `jp-Compilescope-<name>`.
     */
    name: string;

    /**
     * The accessible name.
     */
    label: string;

    /**
     * Whether it shows the whole variant, not one compilation.
     */
    isOfVariant?: boolean;

    /**
     * What it lists of several compilations of the variant, which it picks itself.
     */
    lists?: Listed;

    /**
     * Whether it shows the whole report, whichever variant is selected.
     */
    isOfReport?: boolean;

    /**
     * Whether it has something to show for a report in which nothing was
     * compiled.
     */
    isOfSubject?: boolean;

    /**
     * Whether its data comes only from Inductor.
     */
    isOfInductor?: boolean;
  }
}
