import * as React from 'react';
import type { Compilation } from '../../protocol/types';
import type { IEmpty, IShown } from '../common';
import { pickRemedy, ReportView } from '../common';
import type { IViewContext } from '../views';
import { MemoryBody } from './body';

/**
 * The Memory view: what a wrapper's memory is used for over one call, which
 * buffers share it, and where layouts change.
 */
export class MemoryView extends ReportView<Compilation> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'memory',
      label: context.trans.__('Memory')
    });
  }

  protected override load(shown: IShown): Promise<Compilation> {
    const { variant, compilation } = shown;
    return this.model.getCompilation(variant, compilation, ['memory']);
  }

  protected override whyEmpty({ memory, absent }: Compilation): IEmpty | null {
    return memory.length > 0
      ? null
      : {
          what: this.trans.__('No buffers'),
          why:
            absent.code ??
            absent.memory ??
            this.trans.__(
              'torch generated no wrapper for this compilation, or the report is from a version that did not record its buffers.'
            ),
          remedy: pickRemedy(this.model, this.trans)
        };
  }

  protected override present(
    { memory, layouts }: Compilation,
    { variant, compilation }: IShown
  ): JSX.Element {
    return (
      <MemoryBody
        key={JSON.stringify([this.model.subject, variant, compilation])}
        memories={memory}
        layouts={layouts}
        shown={{ variant, compilation }}
        context={this.context}
        origin={this}
      />
    );
  }
}
