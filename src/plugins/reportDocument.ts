import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { FileConnection, readReport } from '../model/file';
import type { Report } from '../protocol/types';
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
   * @param _complete - Works out what a report of an earlier version lacks, of a
   * path's file; rejects where nothing can.
   * @param options - What the views need beside the model.
   */
  constructor(
    private _file: DocumentRegistry.IContext<DocumentRegistry.IModel>,
    private _complete: (path: string) => Promise<string>,
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
    let report: Report | null = null;
    let message: HTMLElement | null = null;
    try {
      report = readReport(text);
    } catch (error) {
      message = renderMessage(problemOf(error), this.trans);
    }
    this._message?.remove();
    this._message = message;
    this.shell.setHidden(message !== null);
    if (message) {
      this.node.appendChild(message);
    }
    if (!report) {
      this.lookAt(null);
    } else if (report.overview) {
      this.lookAt(new FileConnection(report));
    } else {
      void this._lookAtCompleted(report, text);
    }
  }

  /**
   * Look at a report of an earlier version. What nothing completes is shown as it
   * is: the Overview says what to do.
   */
  private async _lookAtCompleted(report: Report, text: string): Promise<void> {
    let completed = report;
    try {
      completed = readReport(await this._complete(this._file.localPath));
    } catch (error) {
      console.warn('The report could not be completed.', error);
    }
    if (text === this._text && !this.isDisposed) {
      this.lookAt(new FileConnection(completed));
    }
  }

  private _text: string | null = null;
  private _message: HTMLElement | null = null;
}
