import {
  CommandToolbarButton,
  MainAreaWidget,
  Toolbar
} from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { CommandRegistry } from '@lumino/commands';
import { UUID } from '@lumino/coreutils';
import { CommandIDs } from './modelCommands';
import { compilescopeIcon } from '../icons';
import { bar } from './bar';
import { ReportShell } from '../panels/shell';
import type { IViewContext, ViewTarget } from '../panels/views';
import { loadView } from '../panels/loaders';
import { VIEWS } from '../panels/views';

/**
 * The views of one notebook's report, in the main area. They go with their
 * notebook.
 */
export class ReportWidget extends MainAreaWidget<ReportShell> {
  constructor(options: ReportWidget.IOptions) {
    const { notebook, commands, context } = options;
    const { translator, trans } = context;
    super({
      content: new ReportShell({
        views: VIEWS,
        load: loadView,
        context,
        view: options.view,
        beside: view =>
          void commands.execute(CommandIDs.openView, {
            view,
            path: notebook.context.path,
            beside: true
          })
      }),
      // One that folds away what does not fit would hide the pickers first.
      toolbar: new Toolbar({ noFocusOnClick: true }),
      translator
    });
    this._trans = trans;
    this.notebook = notebook;
    this.place = options.place ?? 0;
    this.id = `compilescope-${UUID.uuid4()}`;
    this.addClass('jp-Compilescope-main');
    this.title.icon = compilescopeIcon;
    this.title.closable = true;
    const label = trans.__('Compilescope actions');
    this.toolbar.node.setAttribute('aria-label', label);
    const add = (name: string, id: string, args = {}) =>
      this.toolbar.addItem(
        name,
        new CommandToolbarButton({ commands, id, args, label: '' })
      );
    add('run', CommandIDs.run);
    add('cancel', CommandIDs.cancel);
    add('save', CommandIDs.saveReport, { format: 'html' });
    this.toolbar.addItem('pickers', bar(this.content.pickers));
    add('sidebar', CommandIDs.showSidebar);
    notebook.context.pathChanged.connect(this._setTitle, this);
    notebook.disposed.connect(this.dispose, this);
    this.content.viewChanged.connect(this._setTitle, this);
    this._setTitle();
  }

  /**
   * The notebook whose code it shows.
   */
  readonly notebook: NotebookPanel;

  /**
   * 0 for the notebook's own panel, from 1 on for those opened beside it.
   */
  readonly place: number;

  private _setTitle(): void {
    const { path } = this.notebook.context;
    const { label } = this.content;
    // JupyterLab cuts the end: the name of the notebook is nowhere else.
    this.title.label = `${PathExt.basename(path)}: ${label}`;
    this.title.caption = this._trans.__('%1: compilations of %2', label, path);
  }

  private _trans;
}

/**
 * The namespace for `ReportWidget` statics.
 */
export namespace ReportWidget {
  /**
   * What the views of a notebook need.
   */
  export interface IOptions {
    notebook: NotebookPanel;
    commands: CommandRegistry;
    context: Omit<IViewContext, 'open'>;

    /**
     * The view to begin with.
     */
    view?: ViewTarget;

    /**
     * 0 for the notebook's own panel, from 1 on for those opened beside it.
     */
    place?: number;
  }
}
