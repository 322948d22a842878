import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { compilescopeIcon } from '../icons';
import { formatDate, formatPlace } from '../words/format';
import type { ISubjectModel } from '../interfaces/subject';

/**
 * What the report is of, and where and when it was made.
 */
export class Header extends ReactWidget {
  constructor(private _options: Header.IOptions) {
    super();
    this.addClass('jp-Compilescope-page-header');
    this.node.setAttribute('role', 'banner');
    _options.model.reportChanged.connect(this.update, this);
  }

  protected override render(): JSX.Element | null {
    const { model, created, trans } = this._options;
    const { report } = model;
    if (!report) {
      return null;
    }
    const { subject, overview } = report;
    const date = created && formatDate(new Date(created));
    return (
      <>
        <compilescopeIcon.react tag="span" width="20px" height="20px" />
        <div className="jp-Compilescope-page-title">
          <h1>
            {subject.name}
            {subject.where && (
              <small>{formatPlace(subject.where, report.files, trans)}</small>
            )}
          </h1>
          <p title={subject.arguments.join('\n')}>
            {subject.arguments.join(', ')}
          </p>
          <p title={joined('\n', overview?.environment, date)}>
            {joined(' · ', overview?.device, date)}
          </p>
        </div>
      </>
    );
  }
}

function joined(
  separator: string,
  ...parts: readonly (string | undefined)[]
): string {
  return parts.filter(Boolean).join(separator);
}

/**
 * The namespace for `Header` statics.
 */
export namespace Header {
  /**
   * What the header shows.
   */
  export interface IOptions {
    model: ISubjectModel;

    /**
     * When the report was made, as ISO 8601.
     */
    created: string;
    trans: TranslationBundle;
  }
}
