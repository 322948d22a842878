import * as React from 'react';
import type { VariantReport } from '../../../protocol/types';
import type { IEmpty, IShown } from '../../common';
import { ReportView, ShowAll } from '../../common';
import { formatCount, formatMicroseconds } from '../../../words/format';
import type { IViewContext } from '../../views';
import { BreakCard } from './card';
import { eventCountsOf } from '../../../words/eventCounts';
import { watchedElsewhere } from '../watchedElsewhere';

/**
 * The number of breaks shown initially.
 */
const MAX_CARDS = 50;

/**
 * Where Dynamo ended a graph before the end of the function, and why.
 */
export class BreaksView extends ReportView<VariantReport> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'breaks',
      label: context.trans.__('Graph breaks'),
      isOfVariant: true
    });
    context.model.watchChanged.connect(this._onWatchChanged, this);
  }

  protected load({ variant }: IShown): Promise<VariantReport> {
    return this.model.getVariant(variant);
  }

  /**
   * The selected variant, or that of the cell if it has more graph breaks.
   */
  protected override get variant(): string {
    return eventCountsOf(this.model).breaks?.of || super.variant;
  }

  protected override whyEmpty(variant: VariantReport): IEmpty | null {
    const { trans } = this;
    this._isSeenElsewhere = this._seesElsewhere();
    if (variant.breaks.length > 0) {
      return null;
    }
    const { compilations, absent } = variant;
    if (absent.breaks) {
      return { what: trans.__('Unknown'), why: absent.breaks };
    }
    return {
      isGood: compilations.length > 0 && !this._isSeenElsewhere,
      what: this._isSeenElsewhere
        ? trans.__('No graph breaks in this report')
        : trans.__('No graph breaks'),
      why:
        compilations.length > 0
          ? trans._n(
              'One compilation, one graph.',
              'None of the %2 compilations has a graph break.',
              compilations.length,
              formatCount(compilations.length)
            )
          : trans.__('Nothing was compiled.')
    };
  }

  protected present(variant: VariantReport): JSX.Element {
    const { trans } = this;
    const breaks = variant.breaks;
    const shown = this._isWhole ? breaks : breaks.slice(0, MAX_CARDS);
    return (
      <>
        {this._summary(variant)}
        <div className="jp-Compilescope-cards">
          {shown.map((distinctBreak, index) => (
            <BreakCard
              key={index}
              graphBreak={distinctBreak}
              context={this.context}
              view={this}
              graphOf={id => this._graphOf(variant.name, id)}
            />
          ))}
          <ShowAll
            shown={shown.length}
            total={breaks.length}
            onClick={() => {
              this._isWhole = true;
              this.update();
            }}
            trans={trans}
          />
        </div>
      </>
    );
  }

  private _summary({ name, breaks }: VariantReport): JSX.Element {
    const { trans, model } = this;
    const isElsewhere = name !== model.variant;
    const own = model.report?.variants.find(
      variant => variant.name === model.variant
    )?.breaks;
    const cost = breaks.reduce(
      (sum, { intended, wasted_us }) => sum + (intended ? 0 : (wasted_us ?? 0)),
      0
    );
    return (
      <div className="jp-Compilescope-controls">
        <p>
          <strong>{eventCountsOf(model).breaks?.text}</strong>
          {cost > 0 &&
            `, ${trans.__('%1 of compile time wasted', formatMicroseconds(cost))}`}
          {isElsewhere && (
            <span className="jp-Compilescope-muted">
              {'. '}
              {own
                ? trans.__('%1 has %2.', model.variant, own)
                : trans.__('%1 has none.', model.variant)}
            </span>
          )}
        </p>
      </div>
    );
  }

  private _seesElsewhere(): boolean {
    return (watchedElsewhere(this.model)?.breaks ?? 0) > 0;
  }

  private _onWatchChanged(): void {
    if (this._seesElsewhere() !== this._isSeenElsewhere) {
      this.reload();
    }
  }

  private _graphOf(variant: string, id: string): (() => void) | null {
    const { model, context } = this;
    const summary = model.report?.variants
      .find(({ name }) => name === variant)
      ?.compilations.find(compilation => compilation.id === id);
    return summary && summary.stages.length > 0
      ? () => {
          model.variant = variant;
          model.compilation = id;
          context.open('graph');
        }
      : null;
  }

  private _isWhole = false;

  /**
   * Whether the watch had seen graph breaks at the time of the verdict.
   */
  private _isSeenElsewhere = false;
}
