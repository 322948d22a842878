import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import type { IEmpty, IShown } from '../common';
import { buildRemedy, ReportView } from '../common';
import type { IViewContext } from '../views';
import type { ICompileTime } from './body';
import { CompileTimeBody } from './body';

/**
 * The maximum number of compilations on one axis: a watched training run has
 * hundreds.
 */
const MAX_COMPILATIONS = 100;

/**
 * The Compile time view: where the time of the first call went.
 */
export class CompileTimeView extends ReportView<ICompileTime> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'compileTime',
      label: context.trans.__('Compile time'),
      isOfVariant: true
    });
    context.model.jobChanged.connect(this.update, this);
    context.model.compilationChanged.connect(this._loadPicked, this);
  }

  protected override async load({ variant }: IShown): Promise<ICompileTime> {
    const { model } = this;
    const report = await model.getVariant(variant);
    const outlines = report.compilations;
    const longest = [...outlines]
      .sort((a, b) => (b.duration_s ?? 0) - (a.duration_s ?? 0))
      .slice(0, MAX_COMPILATIONS);
    const shown = outlines.filter(
      compilation =>
        longest.includes(compilation) || compilation.id === model.compilation
    );
    this._omitted = outlines.filter(outline => !shown.includes(outline));
    const compilations = await Promise.all(
      shown.map(({ id }) => model.getCompilation(variant, id, ['phases']))
    );
    return {
      variant: report,
      compilations,
      omitted: this._omitted.length
    };
  }

  /**
   * A compilation that is not among the longest is loaded when it is selected.
   */
  private _loadPicked(): void {
    if (this._omitted.some(({ id }) => id === this.model.compilation)) {
      this.reload();
    }
  }

  protected override whyEmpty({
    variant,
    compilations
  }: ICompileTime): IEmpty | null {
    const isEmpty =
      !variant.compile_time &&
      compilations.every(
        compilation =>
          compilation.phases.length === 0 && compilation.cache.length === 0
      );
    const { trans } = this;
    return isEmpty
      ? {
          what: trans.__('No compile time to show'),
          why:
            variant.absent.phases ??
            variant.absent.compile_time ??
            whyNone(variant, trans),
          remedy:
            variant.requested.target === null
              ? () => buildRemedy(this.model, trans)
              : undefined
        }
      : null;
  }

  protected override present(
    data: ICompileTime,
    { variant }: IShown
  ): JSX.Element {
    return (
      <CompileTimeBody
        key={`${this.model.subject} ${variant}`}
        data={data}
        compilation={this.model.compilation}
        context={this.context}
      />
    );
  }

  /**
   * The compilations that are not loaded.
   */
  private _omitted: VariantReport['compilations'] = [];
}

/** Why a variant has no phases, if the kernel does not say. */
function whyNone(variant: VariantReport, trans: TranslationBundle): string {
  if (variant.requested.target !== null) {
    return trans.__('Its code is for another device: it was not built here.');
  }
  if (variant.stage === 'captured') {
    return trans.__('Its code is being generated.');
  }
  return variant.stage === 'sources'
    ? trans.__('Only its code was generated: it is not built.')
    : trans.__('torch logged no phases for this variant.');
}
