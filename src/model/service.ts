import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { IConsoleTracker } from '@jupyterlab/console';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';
import type { ISubjectModel } from '../interfaces/subject';
import type { ICompilescope } from '../tokens';
import { KernelHandler } from './handler';

/**
 * Follows the notebook or console that the user works in.
 */
export class Compilescope implements ICompilescope {
  constructor(private _options: Compilescope.IOptions) {
    const { notebooks, consoles, shell } = _options;
    const update = () => this._update();
    notebooks.widgetAdded.connect((_, panel) => this._add(panel));
    notebooks.forEach(panel => this._add(panel));
    notebooks.currentChanged.connect(update);
    consoles?.widgetAdded.connect((_, panel) => this._add(panel));
    consoles?.forEach(panel => this._add(panel));
    consoles?.currentChanged.connect(update);
    shell.currentChanged?.connect(update);
    this._update();
  }

  get current(): ISubjectModel | null {
    return this._current;
  }

  get currentChanged(): ISignal<ICompilescope, ISubjectModel | null> {
    return this._currentChanged;
  }

  get inspected(): ISignal<ICompilescope, Widget> {
    return this._inspected;
  }

  get isWatched(): boolean {
    return this._isWatched;
  }
  set isWatched(isWatched: boolean) {
    this._isWatched = isWatched;
    if (isWatched) {
      this._activate();
    }
  }

  modelOf(notebook: NotebookPanel, connect = true): ISubjectModel {
    const handler = this._add(notebook);
    if (connect) {
      handler.activate();
    }
    return handler.model;
  }

  associate(view: Widget, notebook: NotebookPanel): void {
    this._views.set(view, notebook);
    view.disposed.connect(() => this._views.delete(view));
  }

  adopt(
    view: Widget,
    model: ISubjectModel,
    open: (view: string) => void
  ): void {
    this._models.set(view, { model, open });
    view.disposed.connect(() => {
      this._models.delete(view);
      this._update();
    });
    this._update();
  }

  openView(view: string): boolean {
    const entry = [...this._models.values()].find(
      ({ model }) => model === this._current
    );
    entry?.open(view);
    return entry !== undefined;
  }

  private _add(widget: ISource): KernelHandler {
    const known = this._handlers.get(widget);
    if (known) {
      return known;
    }
    const handler = new KernelHandler(
      widget.sessionContext,
      this._options.connects
    );
    this._handlers.set(widget, handler);
    handler.model.inspected.connect(() => this._inspected.emit(widget));
    // Trackers tell of a new widget only after it has become the current one.
    this._update();
    widget.disposed.connect(() => {
      this._handlers.delete(widget);
      handler.dispose();
      this._update();
    });
    return handler;
  }

  private _update(): void {
    const { notebooks, consoles, shell } = this._options;
    const widget = shell.currentWidget;
    const source = (widget && this._views.get(widget)) ?? widget;
    const viewModel = source && this._models.get(source)?.model;
    const handler =
      (source && this._handlers.get(source as ISource)) ??
      (this._handler?.isDisposed === false ? this._handler : null) ??
      this._find(notebooks.currentWidget) ??
      this._find(consoles?.currentWidget ?? null);
    const next = viewModel ?? this._fileModel(source) ?? handler?.model ?? null;
    this._handler = handler;
    if (next === this._current) {
      return;
    }
    this._current = next;
    if (this._isWatched) {
      this._activate();
    }
    this._currentChanged.emit(next);
  }

  /**
   * The model of a report's file, for as long as nothing else that has a model
   * is turned to.
   */
  private _fileModel(source: Widget | null | undefined): ISubjectModel | null {
    const isOther = source && this._handlers.has(source as ISource);
    const isOpen = [...this._models.values()].some(
      ({ model }) => model === this._current
    );
    return isOpen && !isOther ? this._current : null;
  }

  /**
   * Connect the kernel whose model is the current one.
   */
  private _activate(): void {
    if (this._handler?.model === this._current) {
      this._handler?.activate();
    }
  }

  private _find(widget: ISource | null): KernelHandler | null {
    return (widget && this._handlers.get(widget)) ?? null;
  }

  private _handlers = new Map<ISource, KernelHandler>();
  private _views = new Map<Widget, ISource>();
  private _models = new Map<Widget, IOwn>();
  private _handler: KernelHandler | null = null;
  private _current: ISubjectModel | null = null;
  private _isWatched = false;
  private _currentChanged = new Signal<ICompilescope, ISubjectModel | null>(
    this
  );
  private _inspected = new Signal<ICompilescope, Widget>(this);
}

/**
 * The namespace for `Compilescope` statics.
 */
export namespace Compilescope {
  /**
   * What is followed.
   */
  export interface IOptions {
    notebooks: INotebookTracker;
    consoles: IConsoleTracker | null;
    shell: JupyterFrontEnd.IShell;

    /**
     * Whether kernels are connected.
     */
    connects: boolean;
  }
}

/**
 * What a widget of its own shows.
 */
interface IOwn {
  readonly model: ISubjectModel;
  readonly open: (view: string) => void;
}

/**
 * What has a kernel: a notebook or a console.
 */
interface ISource extends Widget {
  readonly sessionContext: ISessionContext;
}
