import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { FileConnection, readReport } from '../model/file';
import { problemOf } from '../protocol/client';
import { renderMessage } from '../panels/common/states/message';
import { ReportPanel } from './reportPanel';

/**
 * The views of a report that stands in a file. A file that changes is read
 * again.
 */
export class ReportDocument extends ReportPanel {
  /**
   * @param _file - The file; it has been read.
   * @param options - What the views need beside the model.
   */
  constructor(
    private _file: DocumentRegistry.IContext<DocumentRegistry.IModel>,
    options: ReportPanel.IOptions
  ) {
    super(options);
    _file.model.contentChanged.connect(this._read, this);
    this._read();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._file.model.contentChanged.disconnect(this._read, this);
      super.dispose();
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
      message = renderMessage(problemOf(error), this.trans);
    }
    this._message?.remove();
    this._message = message;
    this.shell.setHidden(message !== null);
    if (message) {
      this.node.appendChild(message);
    }
    this.lookAt(connection);
  }

  private _text: string | null = null;
  private _message: HTMLElement | null = null;
}
