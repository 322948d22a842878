import * as React from 'react';
import { inOrder } from '../../graph/diff/stages';
import { withOwnLaunches } from '../../graph/kernels';
import type { IEmpty, IShown } from '../common';
import { pickRemedy, ReportView } from '../common';
import type { IViewContext } from '../views';
import { GraphBody } from './body';
import type { IGraphData } from './types';

/**
 * The graphs of a compilation: every stage, drawn.
 */
export class GraphView extends ReportView<IGraphData> {
  constructor(context: IViewContext) {
    super(context, { name: 'graph', label: context.trans.__('Graph') });
  }

  protected async load(shown: IShown): Promise<IGraphData> {
    const { subject, variant, compilation } = shown;
    // The report may have changed by the time the kernels arrive.
    const revision = this.model.report?.revision ?? 0;
    const { kernels, absent } = await this.model.getCompilation(
      variant,
      compilation,
      ['kernels']
    );
    const summary = this.model.report?.variants
      .find(({ name }) => name === variant)
      ?.compilations.find(({ id }) => id === compilation);
    const stages = inOrder(summary?.stages ?? []);
    return {
      subject,
      revision,
      variant,
      compilation,
      stages,
      absent,
      kernels: withOwnLaunches(kernels, variant)
    };
  }

  protected override whyEmpty(
    { stages, absent }: IGraphData,
    _shown: IShown
  ): IEmpty | null {
    const { trans } = this;
    return stages.length > 0
      ? null
      : {
          what: trans.__('No graph'),
          why:
            absent.dynamo ??
            trans.__(
              'torch captured no graph in this frame: it runs as Python.'
            ),
          remedy: pickRemedy(this.model, this.trans)
        };
  }

  protected present(data: IGraphData): JSX.Element {
    return <GraphBody context={this.context} data={data} origin={this} />;
  }
}
