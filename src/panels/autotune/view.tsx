import * as React from 'react';
import type { Compilation } from '../../protocol/types';
import type { IShown } from '../common';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { AutotuneBody } from './body';

/**
 * The Autotune view: what torch chose by measuring, and why the other
 * candidates lost.
 */
export class AutotuneView extends ReportView<Compilation> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'autotune',
      label: context.trans.__('Autotune'),
      isOfInductor: true
    });
    context.model.requestedChanged.connect(this.update, this);
  }

  protected override load(shown: IShown): Promise<Compilation> {
    const { variant, compilation } = shown;
    return this.model.getCompilation(variant, compilation, ['autotunings']);
  }

  protected override present(
    { autotunings, absent }: Compilation,
    { variant, compilation }: IShown
  ): JSX.Element {
    return (
      <AutotuneBody
        key={JSON.stringify([this.model.subject, variant, compilation])}
        autotunings={autotunings}
        why={absent.autotunings ?? ''}
        variant={variant}
        context={this.context}
        origin={this}
      />
    );
  }
}
