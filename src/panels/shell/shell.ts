import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { Panel, StackedPanel } from '@lumino/widgets';
import type {
  IView,
  IViewContext,
  LoadView,
  ViewId,
  ViewTarget
} from '../views';
import { resolve } from '../views';
import { countsOf } from './counts';
import { ViewHost } from './host';
import { emptyViewsOf, tabsOf } from './emptyViews';
import { Pickers } from './pickers';
import { Tabs } from './tabs';
import { WorkStrip } from './work';

/**
 * The views of one report, one at a time, each with a tab.
 */
export class ReportShell extends Panel {
  constructor(private _options: ReportShell.IOptions) {
    super();
    const { views, context, beside } = _options;
    const { model, trans } = context;
    this._trans = trans;
    this.addClass('jp-Compilescope-shell');
    this.pickers = new Pickers(model, trans);
    const first = resolve(_options.view);
    this._current = views.some(({ id }) => id === first?.view)
      ? first!.view
      : views[0].id;
    this._tabs = new Tabs({
      views,
      trans,
      beside: beside ?? null,
      open: view => {
        this.view = view;
        this.activate();
      },
      tabId: view => `${this._id}-tab-${view}`,
      panelId: view => `${this._id}-${view}`
    });
    this._stack.addClass('jp-Compilescope-views');
    this.addWidget(this._tabs);
    this.addWidget(new WorkStrip(context));
    this.addWidget(this._stack);
    for (const view of views) {
      this._stack.addWidget(this._host(view));
    }
    if (first?.section) {
      this._hosts.get(first.view)?.showSection(first.section);
    }
    model.reportChanged.connect(this._describe, this);
    model.variantChanged.connect(this._describe, this);
    this._describe();
  }

  /**
   * The pickers of variant and compilation, to be placed by the shell's owner.
   */
  readonly pickers: Pickers;

  /**
   * The open view.
   */
  get view(): ViewId {
    return this._current;
  }
  set view(view: ViewId) {
    const host = this._hosts.get(view);
    if (!host || view === this._current) {
      return;
    }
    this._hosts.get(this._current)?.hide();
    this._current = view;
    host.show();
    this._describe();
    this._viewChanged.emit(view);
  }

  /**
   * Opens a view, at the section that the target names.
   */
  open(target: ViewTarget): void {
    const section = resolve(target);
    if (section) {
      this.view = section.view;
      if (section.section) {
        this._hosts.get(section.view)?.showSection(section.section);
      }
    }
  }

  /**
   * The name of the open view.
   */
  get label(): string {
    return this._record.label(this._trans);
  }

  /**
   * Emitted when another view was opened.
   */
  get viewChanged(): ISignal<this, ViewId> {
    return this._viewChanged;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.pickers.dispose();
      super.dispose();
    }
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    const host = this._hosts.get(this._current)!;
    host.activate();
    if (!this.node.contains(document.activeElement)) {
      host.node.focus();
    }
  }

  private _host(view: IView): ViewHost {
    const host = new ViewHost({
      view,
      load: this._options.load,
      trans: this._trans,
      context: {
        ...this._options.context,
        open: other => this.open(other)
      }
    });
    host.id = `${this._id}-${view.id}`;
    host.node.tabIndex = -1;
    host.node.setAttribute('role', 'tabpanel');
    host.node.setAttribute('aria-labelledby', `${this._id}-tab-${view.id}`);
    host.setHidden(view.id !== this._current);
    this._hosts.set(view.id, host);
    return host;
  }

  private get _record(): IView {
    return this._options.views.find(view => view.id === this._current)!;
  }

  private _describe(): void {
    const { views, context } = this._options;
    this.pickers.lists = this._record.lists ?? null;
    this._tabs.state = {
      current: this._current,
      tabs: tabsOf(views, this._current, context.model),
      counts: countsOf(context.model),
      nothing: emptyViewsOf(views, context.model, this._trans)
    };
  }

  private _id = `compilescope-views-${UUID.uuid4()}`;
  private _trans: TranslationBundle;
  private _tabs: Tabs;
  private _stack = new StackedPanel();
  private _hosts = new Map<ViewId, ViewHost>();
  private _current: ViewId;
  private _viewChanged = new Signal<this, ViewId>(this);
}

/**
 * The namespace for `ReportShell` statics.
 */
export namespace ReportShell {
  /**
   * The options of a report's views.
   */
  export interface IOptions {
    views: readonly IView[];

    /**
     * Creates a view when it is first opened.
     */
    load: LoadView;
    context: Omit<IViewContext, 'open'>;

    /**
     * The initial view; by default the first one.
     */
    view?: ViewTarget;

    /**
     * Opens a view in a separate panel.
     */
    beside?: (view: ViewId) => void;
  }
}
