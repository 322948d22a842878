import * as React from 'react';
import type { IEmpty, IShown } from '../common';
import { pickRemedy, ReportView } from '../common';
import { isStudied } from '../../words/launches';
import type { IViewContext } from '../views';
import { KernelsBody } from './body';
import { graphsOf, shownGraph } from '../common/graphs';
import type { IGraphKernels } from './read';
import { readGraph } from './read';

/**
 * What the view shows.
 */
interface IKernels {
  /**
   * The first compilation: the others are loaded once it is shown.
   */
  readonly first: IGraphKernels;

  /**
   * Why the launches could not be timed; empty if they could, or timing was not requested.
   */
  readonly whyUntimed: string;
}

/**
 * The Kernels view: what the compiled code launches, in all graphs or in one.
 */
export class KernelsView extends ReportView<IKernels> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'kernels',
      label: context.trans.__('Kernels'),
      lists: 'kernels',
      isOfInductor: true
    });
    const { model } = context;
    model.jobChanged.connect(this.refresh, this);
  }

  protected override async load({ variant }: IShown): Promise<IKernels> {
    const { model } = this;
    const id = shownGraph(model) || graphsOf(model, variant, 'kernels')[0]?.id;
    const [first, report] = await Promise.all([
      this._read(variant, id ?? model.compilation),
      isStudied(model, variant, 'kernels') ? model.getVariant(variant) : null
    ]);
    return { first, whyUntimed: report?.absent.kernel_times ?? '' };
  }

  protected override whyEmpty(
    { first }: IKernels,
    { variant }: IShown
  ): IEmpty | null {
    const { trans } = this;
    return first.kernels.length > 0 ||
      graphsOf(this.model, variant, 'kernels').length > 0
      ? null
      : {
          what: trans.__('No kernels'),
          why: first.why,
          remedy: pickRemedy(this.model, this.trans)
        };
  }

  protected override present(
    { first, whyUntimed }: IKernels,
    { subject, variant }: IShown
  ): JSX.Element {
    return (
      <KernelsBody
        key={JSON.stringify([subject, variant])}
        variant={variant}
        first={first}
        read={id => this._read(variant, id)}
        whyUntimed={whyUntimed}
        context={this.context}
        origin={this}
      />
    );
  }

  private _read(variant: string, id: string): Promise<IGraphKernels> {
    const noCode = this.trans.__(
      'torch generated no code for this compilation.'
    );
    return readGraph(this.model, variant, id, noCode);
  }
}
