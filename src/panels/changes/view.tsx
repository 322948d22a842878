import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import type { IEmpty, IShown } from '../common';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { ChangesBody } from './body';

/**
 * The Changes view: what the shown variant changed in the code, and why.
 */
export class ChangesView extends ReportView<VariantReport> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'changes',
      label: context.trans.__('Changes'),
      isOfVariant: true
    });
  }

  protected override load({ variant }: IShown): Promise<VariantReport> {
    return this.model.getVariant(variant);
  }

  protected override whyEmpty(): IEmpty | null {
    const variants = this.model.report?.variants ?? [];
    if (variants.some(({ changed }) => changed)) {
      return null;
    }
    const { trans } = this;
    return {
      what: trans.__('Nothing to compare'),
      why: trans.__(
        'Changes are shown between two variants for the same device.'
      ),
      remedy: this.model.isLive
        ? trans.__('Flip a switch in the sidebar.')
        : trans.__('Inspect the call with two variants.')
    };
  }

  protected override present(variant: VariantReport): JSX.Element {
    return (
      <ChangesBody
        key={`${this.model.subject} ${variant.name}`}
        variant={variant}
        variants={this.model.report?.variants ?? []}
        context={this.context}
        origin={this}
      />
    );
  }
}
