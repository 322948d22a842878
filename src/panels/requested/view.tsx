import * as React from 'react';
import { isCompiled } from '../../model/variants';
import type { VariantReport } from '../../protocol/types';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { RequestedBody } from './body';

/**
 * The Settings view: what each variant requested, and what torch did.
 */
export class RequestedView extends ReportView<readonly VariantReport[]> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'requested',
      label: context.trans.__('Settings'),
      isOfVariant: true
    });
    context.model.jobChanged.connect(this.update, this);
  }

  protected override async load(): Promise<readonly VariantReport[]> {
    const { model } = this;
    const variants = model.report?.variants.filter(isCompiled) ?? [];
    return Promise.all(variants.map(({ name }) => model.getVariant(name)));
  }

  protected override present(variants: readonly VariantReport[]): JSX.Element {
    return (
      <RequestedBody
        key={this.model.subject}
        variants={variants}
        context={this.context}
      />
    );
  }
}
