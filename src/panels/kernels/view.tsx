import * as React from 'react';
import type { IEmpty, IShown } from '../common';
import { pickRemedy, ReportView } from '../common';
import { isStudied } from '../../words/launches';
import type { ISectioned, IViewContext } from '../views';
import { KernelsBody } from './body';
import type { IGraphKernels } from './graphs';
import { graphsOf, readGraph } from './graphs';

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
export class KernelsView extends ReportView<IKernels> implements ISectioned {
  constructor(context: IViewContext) {
    super(context, {
      name: 'kernels',
      label: context.trans.__('Kernels'),
      isOfCompilations: true,
      isOfInductor: true
    });
    const { model } = context;
    model.compilationChanged.connect(this._onCompilationChanged, this);
    model.jobChanged.connect(this.refresh, this);
  }

  /**
   * A link to the view leads to all graphs.
   */
  showSection(): void {
    this._show(false);
  }

  protected override async load({ variant }: IShown): Promise<IKernels> {
    const { model } = this;
    const id = this._graph || graphsOf(model, variant)[0]?.id;
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
    return first.kernels.length > 0 || graphsOf(this.model, variant).length > 0
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
    const { model } = this;
    this._drawn = { subject, variant };
    return (
      <KernelsBody
        key={JSON.stringify([subject, variant])}
        variant={variant}
        first={first}
        read={id => this._read(variant, id)}
        graph={this._graph}
        onGraph={id => {
          this._turnTo(id || model.compilation);
          this._show(id !== '');
        }}
        onCompilation={id => this._turnTo(id)}
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

  /** Selects a compilation in all views, without hiding the others here. */
  private _turnTo(id: string): void {
    this._isTurning = true;
    this.model.compilation = id;
    this._isTurning = false;
  }

  /** A compilation that was selected for all views is shown here, too. */
  private _onCompilationChanged(): void {
    const { subject, variant } = this.model;
    // After a change of report or variant, the user did not select the compilation.
    const isPicked =
      this._drawn?.subject === subject && this._drawn.variant === variant;
    if (!this._isTurning) {
      this._show(isPicked);
      if (graphsOf(this.model, variant).length === 0) {
        // Each has a different reason for having no kernels.
        this.reload();
      }
    }
  }

  private _show(isOne: boolean): void {
    this._isOne = isOne;
    this.update();
  }

  /**
   * The id of the only shown compilation; empty for all.
   */
  private get _graph(): string {
    return this._isOne ? this.model.compilation : '';
  }

  private _isOne = false;
  private _drawn: { subject: string; variant: string } | null = null;
  private _isTurning = false;
}
