import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import type { IEmpty } from '../common';
import { Empty, ReportView } from '../common';
import type { IViewContext } from '../views';
import { SweepBody } from './body';

/**
 * The view Compare & deploy: one subject under many variants and shapes, and which of them
 * is best; and the ways to deploy it.
 *
 * It loads the variants whose ways to deploy were compared.
 */
export class SweepView extends ReportView<readonly VariantReport[]> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'sweep',
      label: context.trans.__('Compare & deploy'),
      isOfSubject: true
    });
    const { model } = context;
    model.sweepChanged.connect(this.refresh, this);
    model.problemChanged.connect(this.refresh, this);
    model.jobChanged.connect(this.update, this);
    model.choicesChanged.connect(this.update, this);
  }

  protected override async load(): Promise<readonly VariantReport[]> {
    const { model } = this;
    const [deployed] = await Promise.all([
      Promise.all(
        (model.report?.variants ?? [])
          .filter(({ filled }) => filled.includes('ways'))
          .map(({ name }) => model.getVariant(name))
      ),
      // A report from before a restart has no kernel to ask, and a trace has no
      // comparison.
      !model.isKept && !model.report?.trace && model.loadSweep()
    ]);
    return deployed;
  }

  protected override whyEmpty(
    deployed: readonly VariantReport[]
  ): IEmpty | null {
    const { model, trans } = this;
    const kind = model.report?.subject.kind;
    if (kind === 'watch') {
      return {
        what: trans.__('A watched loop cannot be compared'),
        why: trans.__(
          'It runs once, as part of your own code, and its arguments are not kept.'
        ),
        remedy: trans.__(
          'Put %1 at the top of a cell that makes the call.',
          '%%compile'
        )
      };
    }
    if (model.isLive || model.sweep !== null || deployed.length > 0) {
      return null;
    }
    const sweep = 'compilescope.sweep(fn, args)';
    return {
      what: trans.__('No comparison'),
      why: model.isKept
        ? trans.__('The kernel that could make one is gone.')
        : trans.__(
            'This report was saved without a comparison of settings or of ways to deploy.'
          ),
      // The calls of a trace and of a package ran elsewhere.
      remedy:
        kind === 'trace' || kind === 'package'
          ? trans.__('Call %1 in a notebook.', sweep)
          : trans.__(
              'Call %1 in a notebook, or %2 for ways to deploy.',
              sweep,
              'compilescope.study(report, "deploy")'
            )
    };
  }

  protected override present(deployed: readonly VariantReport[]): JSX.Element {
    // The kernel may be gone, and its sweep with it, since this was loaded.
    const empty = this.whyEmpty(deployed);
    return empty ? (
      <Empty {...empty} />
    ) : (
      <SweepBody
        key={this.model.subject}
        deployed={deployed}
        context={this.context}
      />
    );
  }
}
