import type { TranslationBundle } from '@jupyterlab/translation';
import { PanelLayout, Widget } from '@lumino/widgets';
import { SubjectModel } from '../model/subject';
import type { IConnection } from '../protocol/connection';
import type { ISubjectModel } from '../interfaces/subject';
import { ReportShell } from '../panels/shell';
import type { IViewContext, ViewTarget } from '../panels/views';
import { loadView } from '../panels/loaders';
import { VIEWS } from '../panels/views';

/**
 * The views of what is in a file.
 */
export class ReportPanel extends Widget {
  constructor(options: ReportPanel.IOptions) {
    super();
    this.trans = options.trans;
    this.layout = new PanelLayout();
    this.addClass('jp-Compilescope-document');
    const model = this._model;
    this.shell = new ReportShell({
      views: VIEWS,
      load: loadView,
      view: options.view,
      context: {
        model,
        trans: options.trans,
        translator: options.translator,
        languages: options.languages,
        chooseTrace: options.chooseTrace,
        reveal:
          options.reveal &&
          (source => options.reveal!(source, model.report?.files ?? {}))
      }
    });
    (this.layout as PanelLayout).addWidget(this.shell);
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
      super.dispose();
      this._model.dispose();
    }
  }

  /**
   * Look at a report from now on.
   */
  lookAt(connection: IConnection | null): void {
    this._model.connection = connection;
  }

  protected readonly trans: TranslationBundle;
  private _model = new SubjectModel();
}

/**
 * The namespace for `ReportPanel` statics.
 */
export namespace ReportPanel {
  /**
   * What the views need beside the model.
   */
  export interface IOptions extends Pick<
    IViewContext,
    'trans' | 'translator' | 'languages' | 'chooseTrace'
  > {
    /**
     * The view to begin with; the first, unless it is given.
     */
    view?: ViewTarget;

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
