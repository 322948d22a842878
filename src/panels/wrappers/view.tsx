import * as React from 'react';
import type { Steps, VariantSummary } from '../../protocol/types';
import type { IEmpty, IShown } from '../common';
import { pickRemedy, ReportView } from '../common';
import type { IViewContext } from '../views';
import { WrappersBody } from './body';
import type { IPair, IWrappers } from './types';

/**
 * The Wrappers view: what the Python and the C++ wrapper do in a call, step by
 * step, side by side, and what each step costs.
 */
export class WrappersView extends ReportView<IWrappers> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'wrappers',
      label: context.trans.__('Wrappers')
    });
    context.model.jobChanged.connect(this.refresh, this);
  }

  protected override async load(shown: IShown): Promise<IWrappers> {
    const { model } = this;
    const variant = model.report?.variants.find(
      ({ name }) => name === shown.variant
    );
    const pair = pairOf(variant);
    const reasons: string[] = [];
    const stepsOf = async (
      variant: string | null,
      artifact: Steps['artifact']
    ) => {
      const summary = model.report?.variants.find(
        ({ name }) => name === variant
      );
      const has = summary?.compilations.some(
        compilation => compilation.id === shown.compilation
      );
      if (variant === null || !has) {
        return [];
      }
      const [{ steps, absent }, report] = await Promise.all([
        model.getCompilation(variant, shown.compilation, ['steps']),
        model.getVariant(variant)
      ]);
      for (const why of [report.absent.steps, absent.steps ?? absent.code]) {
        if (why) {
          reasons.push(`${variant}: ${why}`);
        }
      }
      return steps.filter(step => step.artifact === artifact);
    };
    const [python, cpp] = await Promise.all([
      stepsOf(pair.python, 'python'),
      stepsOf(pair.cpp, 'cpp')
    ]);
    return { pair, python, cpp, reasons: [...new Set(reasons)] };
  }

  protected override whyEmpty({
    python,
    cpp,
    reasons
  }: IWrappers): IEmpty | null {
    const { trans } = this;
    return python.length + cpp.length > 0
      ? null
      : {
          what: trans.__('No steps of a wrapper'),
          why:
            reasons.join('\n') ||
            trans.__(
              'torch generated no wrapper for this compilation, or the report is from a version that did not record its steps.'
            ),
          remedy: pickRemedy(this.model, this.trans)
        };
  }

  protected override present(
    wrappers: IWrappers,
    { compilation }: IShown
  ): JSX.Element {
    const { python, cpp } = wrappers.pair;
    return (
      <WrappersBody
        key={JSON.stringify([this.model.subject, python, cpp, compilation])}
        wrappers={wrappers}
        compilation={compilation}
        context={this.context}
        origin={this}
      />
    );
  }
}

/**
 * A variant, and the one whose wrapper is compared with its own.
 */
function pairOf(variant: VariantSummary | undefined): IPair {
  if (!variant) {
    return { python: null, cpp: null };
  }
  const { name, has_cpp_wrapper, other_wrapper } = variant;
  const other = other_wrapper || null;
  return has_cpp_wrapper
    ? { python: other, cpp: name }
    : { python: name, cpp: other };
}
