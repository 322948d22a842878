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
    try {
      const report = readReport(text);
      if (report.overview && report.contents) {
        this._show(report);
      } else {
        void this._showCompleted(report, text);
      }
    } catch (error) {
      this._showProblem(error);
    }
  }

  /**
   * Show a report of an earlier version, completed. What nothing completes is
   * shown as it is, where that can be: the Overview says what to do.
   */
  private async _showCompleted(report: Report, text: string): Promise<void> {
    let completed = report;
    try {
      completed = readReport(await this._complete(this._file.localPath));
    } catch (error) {
      console.warn('The report could not be completed.', error);
    }
    if (text !== this._text || this.isDisposed) {
      return;
    }
    try {
      this._show(completed);
    } catch (error) {
      this._showProblem(error);
    }
  }

  private _show(report: Report): void {
    this.lookAt(new FileConnection(report));
    this._showMessage(null);
  }

  private _showProblem(error: unknown): void {
    this.lookAt(null);
    this._showMessage(renderMessage(problemOf(error), this.trans));
  }

  private _showMessage(message: HTMLElement | null): void {
    this._message?.remove();
    this._message = message;
    this.shell.setHidden(message !== null);
    if (message) {
      this.node.appendChild(message);
    }
  }

  private _text: string | null = null;
  private _message: HTMLElement | null = null;
}
