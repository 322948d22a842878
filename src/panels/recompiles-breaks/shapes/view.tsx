import * as React from 'react';
import type { Compilation } from '../../../protocol/types';
import type { IEmpty, IShown } from '../../common';
import { ReportView, ShowAll } from '../../common';
import type { IViewContext } from '../../views';
import { DecisionCard } from './card';
import { Symbols } from './symbols';

/**
 * The number of decisions shown initially.
 */
const MAX_CARDS = 50;

/**
 * The dynamic sizes of a compilation, and torch's decisions about them.
 */
export class ShapesView extends ReportView<Compilation> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'shapes',
      label: context.trans.__('Symbolic shapes')
    });
  }

  protected load({ variant, compilation }: IShown): Promise<Compilation> {
    return this.model.getCompilation(variant, compilation, ['shapes']);
  }

  protected override whyEmpty(
    { id, symbols, shape_decisions, reduced }: Compilation,
    { variant }: IShown
  ): IEmpty | null {
    const { trans, model } = this;
    const { stage } =
      model.report?.variants.find(({ name }) => name === variant) ?? {};
    return symbols.length + shape_decisions.length > 0
      ? null
      : {
          what: trans.__('No dynamic sizes in %1', id),
          why:
            reduced ||
            (stage === 'failed'
              ? trans.__('torch may not have reached the sizes.')
              : trans.__('Every size was a constant when torch compiled it.'))
        };
  }

  protected present(
    { symbols, shape_decisions, expressions }: Compilation,
    { variant, compilation }: IShown
  ): JSX.Element {
    const { context, trans } = this;
    const place = JSON.stringify([this.model.subject, variant, compilation]);
    const shown =
      this._whole === place
        ? shape_decisions
        : shape_decisions.slice(0, MAX_CARDS);
    return (
      <>
        {symbols.length > 0 && (
          <Symbols symbols={symbols} context={context} view={this} />
        )}
        <div className="jp-Compilescope-cards">
          {shown.map((shapeDecision, index) => (
            <DecisionCard
              key={`${place} ${index}`}
              decision={shapeDecision}
              expressions={expressions}
              context={context}
              view={this}
            />
          ))}
          <ShowAll
            shown={shown.length}
            total={shape_decisions.length}
            onClick={() => {
              this._whole = place;
              this.update();
            }}
            trans={trans}
          />
        </div>
      </>
    );
  }

  /**
   * The compilation whose decisions are all shown.
   */
  private _whole = '';
}
