import { ReactWidget } from '@jupyterlab/apputils';
import type { ITranslator } from '@jupyterlab/translation';
import { nullTranslator } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import type { ISignal } from '@lumino/signaling';
import * as React from 'react';
import type { SourceLine } from '../../protocol/types';
import type { ISubjectModel } from '../../interfaces/subject';
import type { ViewTarget } from '../views';
import { SidebarBody } from './body';
import { signalsOf, stateOf } from './state';
import type { ISidebarActions } from './types';
import { showWatched } from './watched';

/**
 * The sidebar: follows the current model, and passes clicks on to it.
 */
export class Sidebar extends ReactWidget {
  constructor(private _options: Sidebar.IOptions) {
    super();
    this._trans = (_options.translator ?? nullTranslator).load(
      'jupyterlab_compilescope'
    );
    this.addClass('jp-Compilescope-sidebar');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this._trans.__('Compilescope'));
    _options.service.currentChanged.connect(this._follow, this);
    this._follow();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._options.service.isWatched = true;
    this.update();
  }

  protected override onBeforeHide(message: Message): void {
    super.onBeforeHide(message);
    this._options.service.isWatched = false;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._options.service.isWatched = this.isVisible;
  }

  protected override render(): JSX.Element {
    return (
      <SidebarBody
        state={stateOf(this._model, this._options.canRunAgain?.() ?? false)}
        actions={this._actions}
        trans={this._trans}
      />
    );
  }

  private _follow(): void {
    for (const signal of signalsOf(this._model)) {
      signal.disconnect(this.update, this);
    }
    this._model = this._options.service.current;
    for (const signal of signalsOf(this._model)) {
      signal.connect(this.update, this);
    }
    this.update();
  }

  private _model: ISubjectModel | null = null;
  private _trans;
  private _actions: ISidebarActions = {
    selectSubject: id => {
      if (this._model) {
        this._model.subject = id;
      }
    },
    setRequested: change => this._model?.setRequested(change),
    showVariant: name => {
      this._model?.showVariant(name);
    },
    goTo: (where: SourceLine) =>
      this._model?.select({
        source: { file: where.file, line: where.line },
        origin: this
      }),
    run: () => void this._model?.run(),
    resume: () => void this._model?.resume(),
    cancel: () => void this._model?.cancel(),
    runAgain: () => this._options.runAgain?.(),
    openView: (view, variant) => {
      if (this._model && variant) {
        this._model.variant = variant;
      }
      this._options.openView(view);
    },
    save: format => this._options.save(format),
    forget: () => void this._model?.forget(),
    pinTier: (number, pinned, tier) =>
      void this._model?.pinTier(number, pinned, tier),
    setWatch: (on, clear) => void this._model?.setWatch(on, clear),
    showWatched: (compilation, where) => {
      if (this._model) {
        showWatched(this._model, compilation, where, this);
        this._options.openView('code');
      }
    },
    load: () => void this._model?.load(),
    retry: () => void this._model?.refresh()
  };
}

/**
 * The namespace for `Sidebar` statics.
 */
export namespace Sidebar {
  /**
   * The part of the service that follows kernels which the sidebar uses.
   */
  export interface IService {
    readonly current: ISubjectModel | null;
    readonly currentChanged: ISignal<unknown, ISubjectModel | null>;
    isWatched: boolean;
  }

  /**
   * The options of the sidebar.
   */
  export interface IOptions {
    service: IService;

    /**
     * Opens a view of the current report.
     */
    openView: (view: ViewTarget) => void;

    /**
     * Saves the report.
     */
    save: (format: 'json' | 'html') => void;

    /**
     * Whether the cell of the report still exists and can be run again.
     */
    canRunAgain?: () => boolean;

    /**
     * Runs the report's cell again, in a restarted kernel after the cells above
     * it.
     */
    runAgain?: () => void;
    translator?: ITranslator;
  }
}
