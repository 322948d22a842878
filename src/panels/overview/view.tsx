import * as React from 'react';
import { isKernelBusy } from '../../model/jobs';
import { isSameVariant } from '../../model/variants';
import type { Overview, Variant } from '../../protocol/types';
import type { IEmpty } from '../common';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { OverviewBody } from './body';

/**
 * How long variants are measured after one was tried, in seconds.
 */
const SECONDS = 5;

/**
 * The Overview: the report's conclusions. The kernel computes them; the view
 * only displays them.
 */
export class OverviewView extends ReportView<Overview | null> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'overview',
      label: context.trans.__('Overview'),
      isOfSubject: true
    });
    const { model } = context;
    model.jobChanged.connect(this._onJob, this);
    model.reportChanged.connect(this._measureTried, this);
  }

  protected override load(): Promise<Overview | null> {
    return Promise.resolve(this.model.report?.overview ?? null);
  }

  protected override whyEmpty(overview: Overview | null): IEmpty | null {
    const { trans } = this;
    return overview
      ? null
      : {
          what: trans.__('This report has no overview'),
          why: trans.__('It was saved by an earlier version.'),
          remedy: trans.__(
            'Run %1 in a notebook; the other views work as they are.',
            'compilescope.load("FILE").save("FILE")'
          )
        };
  }

  protected override present(overview: Overview | null): JSX.Element {
    return (
      <OverviewBody
        overview={overview!}
        context={this.context}
        onTry={variant => this._try(variant)}
      />
    );
  }

  private _try(variant: Variant): void {
    this._tried = { subject: this.model.subject, variant };
    this.model.setRequested(variant);
  }

  private _onJob(): void {
    this._measureTried();
    this.refresh();
  }

  /**
   * Measures what was tried as soon as its code is available and the kernel is
   * idle.
   */
  private _measureTried(): void {
    const { model, _tried: tried } = this;
    if (!tried || isKernelBusy(model.job)) {
      return;
    }
    if (tried.subject !== model.subject) {
      this._tried = null;
      return;
    }
    const variants = model.report?.variants ?? [];
    const summary = variants.find(variant =>
      isSameVariant(variant.requested, tried.variant)
    );
    if (!summary) {
      return;
    }
    this._tried = null;
    if (summary.stage === 'sources' && summary.requested.target === null) {
      const names = variants
        .filter(
          variant =>
            variant.requested.backend !== null &&
            variant.requested.target === null &&
            variant.stage !== 'failed' &&
            !variant.recorded &&
            (variant.stage === 'built' || variant === summary)
        )
        .map(variant => variant.name);
      void model.startMeasure({ variants: names, seconds: SECONDS });
    }
  }

  private _tried: { subject: string | null; variant: Variant } | null = null;
}
