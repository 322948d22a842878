import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import type { IShown } from '../common';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { PackageBody } from './body';

/**
 * The view “Ahead of time”: what torch.export and AOTInductor generate for the
 * same call, and the contents of a package.
 */
export class PackageView extends ReportView<VariantReport> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'package',
      label: context.trans.__('Ahead of time'),
      isOfVariant: true
    });
    context.model.jobChanged.connect(this.update, this);
  }

  protected load({ variant }: IShown): Promise<VariantReport> {
    return this.model.getVariant(variant);
  }

  protected present(variant: VariantReport): JSX.Element {
    return (
      <PackageBody
        key={JSON.stringify([this.model.subject, variant.name])}
        variant={variant}
        context={this.context}
        origin={this}
      />
    );
  }
}
