import * as React from 'react';
import type { Decision, Kernel } from '../../protocol/types';
import type { IEmpty, IShown } from '../common';
import { pickRemedy, ReportView } from '../common';
import { isStudied } from '../../words/launches';
import type { IViewContext } from '../views';
import { KernelsBody } from './body';

/**
 * What the view shows.
 */
interface IKernels {
  readonly kernels: readonly Kernel[];
  readonly decisions: readonly Decision[];
  readonly absent: Readonly<Record<string, string>>;

  /**
   * Why the launches could not be timed; empty if they could, or timing was not requested.
   */
  readonly whyUntimed: string;
}

/**
 * The Kernels view: what the compiled code launches.
 */
export class KernelsView extends ReportView<IKernels> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'kernels',
      label: context.trans.__('Kernels'),
      isOfInductor: true
    });
    context.model.jobChanged.connect(this.refresh, this);
  }

  protected override async load(shown: IShown): Promise<IKernels> {
    const { variant, compilation } = shown;
    const { model } = this;
    const [{ kernels, decisions, absent }, report] = await Promise.all([
      model.getCompilation(variant, compilation, ['kernels']),
      isStudied(model, variant, 'kernels') ? model.getVariant(variant) : null
    ]);
    const whyUntimed = report?.absent.kernel_times ?? '';
    return { kernels, decisions, absent, whyUntimed };
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
          remedy: pickRemedy(this.model, this.trans)
        };
  }

  protected override present(
    { kernels, decisions, whyUntimed }: IKernels,
    { variant, compilation }: IShown
  ): JSX.Element {
    return (
      <KernelsBody
        key={JSON.stringify([this.model.subject, variant, compilation])}
        kernels={kernels}
        decisions={decisions}
        variant={variant}
        compilation={compilation}
        whyUntimed={whyUntimed}
        context={this.context}
        origin={this}
      />
    );
  }
}
