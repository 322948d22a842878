import * as React from 'react';
import type { IEmpty } from '../common';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { SweepBody } from './body';

/**
 * The Compare view: one subject under many variants and shapes, and which of them
 * is best.
 */
export class SweepView extends ReportView<boolean> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'sweep',
      label: context.trans.__('Compare'),
      isOfSubject: true
    });
    const { model } = context;
    model.sweepChanged.connect(this.refresh, this);
    model.problemChanged.connect(this.refresh, this);
  }

  /**
   * @returns Whether it can be shown, or gone on with.
   */
  protected override async load(): Promise<boolean> {
    const { model } = this;
    await model.loadSweep();
    return model.isLive || model.sweep !== null;
  }

  protected override whyEmpty(isThere: boolean): IEmpty | null {
    const { model, trans } = this;
    if (!isThere) {
      return {
        what: trans.__('No comparison'),
        why: trans.__('This report was saved without a comparison.'),
        remedy: trans.__(
          'Call %1 in a notebook.',
          'compilescope.sweep(fn, args)'
        )
      };
    }
    return model.report?.subject.kind === 'watch'
      ? {
          what: trans.__('A watched loop cannot be compared'),
          why: trans.__(
            'It runs once, as part of your own code, and its arguments are not kept.'
          ),
          remedy: trans.__(
            'Put %1 over a cell that makes the call.',
            '%%compile'
          )
        }
      : null;
  }

  protected override present(): JSX.Element {
    return <SweepBody key={this.model.subject} context={this.context} />;
  }
}
