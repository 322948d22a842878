import {
  CommandToolbarButton,
  MainAreaWidget,
  Toolbar
} from '@jupyterlab/apputils';
import type { IEditorServices } from '@jupyterlab/codeeditor';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { PathExt } from '@jupyterlab/coreutils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { ITranslator } from '@jupyterlab/translation';
import { nullTranslator } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { UUID } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { CommandIDs } from '../commands';
import { compilescopeIcon } from '../icons';
import type { ISubjectModel } from '../tokens';
import { CodePanel } from './code';

/**
 * The code view of one notebook, in the main area. It goes with its notebook.
 */
export class CodeWidget extends MainAreaWidget<CodePanel> {
  constructor(options: CodeWidget.IOptions) {
    const { model, notebook, editorServices, languages, commands } = options;
    const translator = options.translator ?? nullTranslator;
    super({
      content: new CodePanel({ model, editorServices, languages, translator }),
      translator
    });
    this._trans = translator.load('jupyterlab_compilescope');
    this.notebook = notebook;
    this.id = `compilescope-code-${UUID.uuid4()}`;
    this.addClass('jp-Compilescope-main');
    this.title.icon = compilescopeIcon;
    this.title.closable = true;
    const label = this._trans.__('Compilescope actions');
    this.toolbar.node.setAttribute('aria-label', label);
    const add = (name: string, id: string, args = {}) =>
      this.toolbar.addItem(
        name,
        new CommandToolbarButton({ commands, id, args, label: '' })
      );
    add('run', CommandIDs.run);
    add('cancel', CommandIDs.cancel);
    add('save', CommandIDs.saveReport, { format: 'html' });
    this.toolbar.addItem('spacer', Toolbar.createSpacerItem());
    add('sidebar', CommandIDs.showSidebar);
    notebook.context.pathChanged.connect(this._setTitle, this);
    notebook.disposed.connect(() => this.dispose());
    this._setTitle();
  }

  /**
   * The notebook whose code it shows.
   */
  readonly notebook: NotebookPanel;

  override dispose(): void {
    if (!this.isDisposed) {
      Signal.clearData(this);
      super.dispose();
    }
  }

  private _setTitle(): void {
    const { path } = this.notebook.context;
    this.title.label = this._trans.__('Code of %1', PathExt.basename(path));
    this.title.caption = this._trans.__('What torch.compile made in %1', path);
  }

  private _trans;
}

/**
 * The namespace for `CodeWidget` statics.
 */
export namespace CodeWidget {
  /**
   * What the code view needs.
   */
  export interface IOptions {
    model: ISubjectModel;
    notebook: NotebookPanel;
    commands: CommandRegistry;
    editorServices: IEditorServices;
    languages: IEditorLanguageRegistry;
    translator?: ITranslator;
  }
}
