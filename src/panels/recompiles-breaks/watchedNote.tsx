import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { formatCount } from '../../words/format';
import type { IViewContext } from '../views';
import { watchedElsewhere } from './watchedElsewhere';

/**
 * What the watch sees while the report of an inspected call without it is
 * shown: a line above that report, with a link to the watch's report.
 */
export class WatchedNote extends ReactWidget {
  constructor(private _context: IViewContext) {
    super();
    const { model } = _context;
    model.watchChanged.connect(this.update, this);
    model.reportChanged.connect(this.update, this);
  }

  protected override render(): JSX.Element | null {
    const { model, trans } = this._context;
    const { report } = model;
    const watch = watchedElsewhere(model);
    if (!report || !watch) {
      return null;
    }
    const { recompiles, breaks } = watch;
    const counts = [
      recompiles > 0 &&
        trans._n(
          '%2 recompile',
          '%2 recompiles',
          recompiles,
          formatCount(recompiles)
        ),
      breaks > 0 &&
        trans._n(
          '%2 graph break',
          '%2 graph breaks',
          breaks,
          formatCount(breaks)
        )
    ].filter(text => text !== false);
    if (counts.length === 0) {
      return null;
    }
    return (
      <p className="jp-Compilescope-notice jp-mod-warning" role="status">
        <button
          type="button"
          className="jp-Compilescope-link"
          title={trans.__('Show the report of the watch')}
          onClick={() => {
            model.subject = watch.subject;
          }}
        >
          {trans.__('The watch saw %1', counts.join(', '))}
        </button>
        {'. '}
        {trans.__(
          'Below is the inspected call of %1 alone.',
          report.subject.name
        )}
      </p>
    );
  }
}
