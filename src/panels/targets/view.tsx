import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import type { IEmpty } from '../common';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { TargetEstimates } from './estimates';

/**
 * The Targets view: estimated times of calls on devices that are not available.
 * Nothing in it was measured.
 */
export class TargetsView extends ReportView<readonly VariantReport[]> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'targets',
      label: context.trans.__('Targets'),
      isOfReport: true
    });
  }

  protected override load(): Promise<readonly VariantReport[]> {
    const { model } = this;
    const names = (model.report?.variants ?? [])
      .filter(variant => variant.requested.target !== null)
      .map(variant => variant.name);
    return Promise.all(names.map(name => model.getVariant(name)));
  }

  protected override whyEmpty(
    variants: readonly VariantReport[]
  ): IEmpty | null {
    const { model, trans } = this;
    return variants.some(variant => variant.target)
      ? null
      : {
          what: trans.__('No variant targets another device'),
          why: trans.__(
            'A target is a device that need not be present: torch generates and compiles code for it, and the time of a call is estimated.'
          ),
          remedy: model.isLive
            ? trans.__('Choose a target among the switches of the sidebar.')
            : trans.__(
                'Inspect with %1.',
                'compilescope.Variant(target="h100")'
              )
        };
  }

  protected override present(variants: readonly VariantReport[]): JSX.Element {
    return (
      <div className="jp-Compilescope-body">
        <TargetEstimates variants={variants} context={this.context} />
      </div>
    );
  }
}
