import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import type { ISubjectModel } from '../interfaces/subject';

/**
 * What a report is of, and where it was made, in one line.
 */
export class About extends Widget {
  constructor(
    private _model: ISubjectModel,
    private _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-Compilescope-about');
    _model.reportChanged.connect(this._show, this);
    this._show();
  }

  private _show(): void {
    const { report } = this._model;
    this.node.replaceChildren();
    if (!report) {
      return;
    }
    const { subject, overview } = report;
    const name = document.createElement('strong');
    name.textContent = subject.name;
    const facts = document.createElement('span');
    facts.textContent = overview?.device ?? '';
    this.node.append(name, facts);
    this.node.title = [
      subject.name,
      ...subject.arguments,
      overview?.environment,
      this._trans.__(
        'From a file: you can view the report, but not build or time variants.'
      )
    ]
      .filter(Boolean)
      .join('\n');
  }
}
