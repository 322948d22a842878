import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import type { IEmpty } from '../common';
import { ReportView } from '../common';
import type { ISectioned, IViewContext } from '../views';
import { TimingsBody } from './body';

/**
 * The Timings view: how long a call takes under each variant, and why.
 */
export class TimingsView
  extends ReportView<readonly VariantReport[]>
  implements ISectioned
{
  constructor(context: IViewContext) {
    super(context, {
      name: 'timings',
      label: context.trans.__('Timings'),
      isOfReport: true
    });
    const { model } = context;
    model.measurementChanged.connect(this.refresh, this);
    model.jobChanged.connect(this.refresh, this);
  }

  showSection(name: string): void {
    // A new object each time: the same section may be requested again.
    this._section = { name };
    this.update();
  }

  protected override async load(): Promise<readonly VariantReport[]> {
    const { model } = this;
    const names = model.report?.variants.map(variant => variant.name) ?? [];
    const [variants] = await Promise.all([
      Promise.all(names.map(name => model.getVariant(name))),
      model.isLive && model.loadMeasurement()
    ]);
    return variants;
  }

  protected override whyEmpty(): IEmpty | null {
    const { model, trans } = this;
    return model.report?.subject.kind === 'watch'
      ? {
          what: trans.__('A watched loop is not timed'),
          why: trans.__(
            'It runs once, as part of your own code, and its arguments are not kept.'
          ),
          remedy: trans.__(
            'To time a call, put %1 at the top of a cell that makes it.',
            '%%compile'
          )
        }
      : null;
  }

  protected override present(variants: readonly VariantReport[]): JSX.Element {
    const { model } = this;
    return (
      <TimingsBody
        key={model.subject}
        variants={variants}
        measurement={model.measurement}
        context={this.context}
        origin={this}
        section={this._section}
      />
    );
  }

  private _section: { readonly name: string } | null = null;
}
