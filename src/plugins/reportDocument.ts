import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import { PanelLayout, Widget } from '@lumino/widgets';
import { FileConnection, readReport } from '../model/file';
import { SubjectModel } from '../model/subject';
import { problemOf } from '../protocol/client';
import type { ISubjectModel } from '../tokens';
import { renderMessage } from '../panels/common/states/message';
import { ReportShell } from '../panels/shell';
import type { IViewContext } from '../panels/views';
import { loadView } from '../panels/loaders';
import { VIEWS } from '../panels/views';

/**
 * The views of a report that stands in a file. A file that changes is read
 * again.
 */
export class ReportDocument extends Widget {
  /**
   * @param _file - The file; it has been read.
   * @param options - What the views need beside the model.
   */
  constructor(
    private _file: DocumentRegistry.IContext<DocumentRegistry.IModel>,
    options: ReportDocument.IOptions
  ) {
    super();
    this._trans = options.trans;
    this.layout = new PanelLayout();
    this.addClass('jp-Compilescope-document');
    const model = this._model;
    this.shell = new ReportShell({
      views: VIEWS,
      load: loadView,
      context: {
        model,
        trans: options.trans,
        translator: options.translator,
        languages: options.languages,
        reveal:
          options.reveal &&
          (source => options.reveal!(source, model.report?.files ?? {}))
      }
    });
    (this.layout as PanelLayout).addWidget(this.shell);
    _file.model.contentChanged.connect(this._read, this);
    this._read();
  }

  readonly shell: ReportShell;

  /**
   * What the views look at.
   */
  get model(): ISubjectModel {
    return this._model;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._file.model.contentChanged.disconnect(this._read, this);
      super.dispose();
      this._model.dispose();
    }
  }

  private _read(): void {
    const text = this._file.model.toString();
    if (text === this._text) {
      return;
    }
    this._text = text;
    let connection: FileConnection | null = null;
    let message: HTMLElement | null = null;
    try {
      connection = new FileConnection(readReport(text));
    } catch (error) {
      message = renderMessage(problemOf(error), this._trans);
    }
    this._message?.remove();
    this._message = message;
    this.shell.setHidden(message !== null);
    if (message) {
      this.node.appendChild(message);
    }
    this._model.connection = connection;
  }

  private _trans: TranslationBundle;
  private _model = new SubjectModel();
  private _text: string | null = null;
  private _message: HTMLElement | null = null;
}

/**
 * The namespace for `ReportDocument` statics.
 */
export namespace ReportDocument {
  /**
   * What the views need beside the model.
   */
  export interface IOptions extends Pick<
    IViewContext,
    'trans' | 'translator' | 'languages'
  > {
    /**
     * Shows a line of the user's code, as far as it can be found.
     */
    reveal:
      | ((
          source: Parameters<NonNullable<IViewContext['reveal']>>[0],
          files: Record<string, string>
        ) => void)
      | null;
  }
}
