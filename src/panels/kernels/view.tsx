import * as React from 'react';
import type { Kernel } from '../../protocol/types';
import type { IEmpty, IShown } from '../common';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { KernelsBody } from './body';

/**
 * What the view shows.
 */
interface IKernels {
  readonly kernels: readonly Kernel[];
  readonly absent: Readonly<Record<string, string>>;
}

/**
 * The Kernels view: what one call launches.
 */
export class KernelsView extends ReportView<IKernels> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'kernels',
      label: context.trans.__('Kernels')
    });
  }

  protected override async load(shown: IShown): Promise<IKernels> {
    const { variant, compilation } = shown;
    return this.model.getCompilation(variant, compilation, ['kernels']);
  }

  protected override whyEmpty({ kernels, absent }: IKernels): IEmpty | null {
    const { trans } = this;
    return kernels.length > 0
      ? null
      : {
          what: trans.__('No kernels'),
          why:
            absent.kernels ??
            absent.code ??
            trans.__('torch generated no code for this compilation.'),
          remedy: trans.__(
            'Pick another compilation, or a variant whose backend is inductor.'
          )
        };
  }

  protected override present(
    { kernels }: IKernels,
    { variant, compilation }: IShown
  ): JSX.Element {
    return (
      <KernelsBody
        key={JSON.stringify([this.model.subject, variant, compilation])}
        kernels={kernels}
        variant={variant}
        compilation={compilation}
        context={this.context}
        origin={this}
      />
    );
  }
}
