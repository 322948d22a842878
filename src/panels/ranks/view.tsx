import * as React from 'react';
import type { Rank } from '../../protocol/types';
import type { IEmpty } from '../common';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { RanksBody } from './body';

/**
 * The Ranks view: the collectives of one rank of a distributed run, and its
 * differences from the other ranks.
 */
export class RanksView extends ReportView<Rank | null> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'ranks',
      label: context.trans.__('Ranks'),
      isOfSubject: true
    });
  }

  protected override async load(): Promise<Rank | null> {
    return this.model.report?.rank ?? null;
  }

  protected override whyEmpty(rank: Rank | null): IEmpty | null {
    const { trans } = this;
    return rank
      ? null
      : {
          what: trans.__('This call was inspected in one process'),
          why: trans.__(
            'Ranks are shown for a run that was inspected on all its ranks.'
          ),
          remedy: trans.__(
            'compilescope.ranks(factory, size=2) inspects a call on every rank.'
          )
        };
  }

  protected override present(rank: Rank | null): JSX.Element {
    return rank ? (
      <RanksBody rank={rank} context={this.context} origin={this} />
    ) : (
      <></>
    );
  }
}
