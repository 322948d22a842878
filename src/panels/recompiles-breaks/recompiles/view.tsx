import * as React from 'react';
import type { Compilation, VariantReport } from '../../../protocol/types';
import { SUGGESTIONS_TITLE } from '../../../protocol/types';
import type { IEmpty, IShown } from '../../common';
import { Check, Prose, ReportView, ShowAll } from '../../common';
import { formatSeconds } from '../../../words/format';
import { frameName } from '../../../words/frames';
import type { IViewContext } from '../../views';
import { RecompileCard } from './card';
import { Compare } from './compare';
import { Failures } from './failures';
import type { IFrame } from './frames';
import { frameOf, framesOf } from './frames';
import { Timeline } from './timeline';
import { eventCountsOf } from '../../../words/eventCounts';
import { watchedElsewhere } from '../watchedElsewhere';

/**
 * The number of cards of a frame shown initially.
 */
const MAX_CARDS = 20;

/**
 * What was compiled again, why, what that cost, and what to change.
 */
export class RecompilesView extends ReportView<VariantReport> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'recompiles',
      label: context.trans.__('Recompiles'),
      isOfVariant: true
    });
    context.model.watchChanged.connect(this.update, this);
  }

  protected load({ variant }: IShown): Promise<VariantReport> {
    return this.model.getVariant(variant);
  }

  /**
   * The selected variant, or that of the cell if the selected one has no
   * recompiles.
   */
  protected override get variant(): string {
    return eventCountsOf(this.model).recompiles?.of || super.variant;
  }

  protected override whyEmpty({ compilations }: VariantReport): IEmpty | null {
    const { trans } = this;
    return compilations.length > 0
      ? null
      : {
          what: trans.__('Nothing was compiled'),
          remedy: trans.__('Run the cell again, or pick another variant.')
        };
  }

  protected present({ compilations, name }: VariantReport): JSX.Element {
    const allFrames = this._framesOf(compilations);
    const recompiled = allFrames.filter(({ recompiles }) => recompiles > 0);
    const frames =
      this._isOnly && recompiled.length > 0 ? recompiled : allFrames;
    const key = frameOf(this.model.compilation);
    const frame =
      frames.find(candidate => candidate.key === key) ??
      recompiled[0] ??
      frames[0];
    const shown = frame.compilations.some(
      compilation => compilation.id === this.model.compilation
    )
      ? this.model.compilation
      : '';
    return (
      <>
        {this._summary(allFrames, recompiled)}
        {recompiled.length === 0 && this._laterRecompiles()}
        {recompiled.length > 0 && (
          <>
            <Timeline
              variant={name}
              frames={frames}
              selected={shown}
              onSelect={id => this._select(id)}
              context={this.context}
            />
            {this._cards(frame, shown)}
          </>
        )}
        {this._compared && frameOf(this._compared.to) === frame.key && (
          <Compare
            variant={name}
            ids={frame.compilations.map(compilation => compilation.id)}
            {...this._compared}
            onChange={(from, to) => this._compare({ from, to })}
            onClose={() => this._compare(null)}
            context={this.context}
          />
        )}
      </>
    );
  }

  private _summary(
    allFrames: readonly IFrame[],
    recompiled: readonly IFrame[]
  ): JSX.Element {
    const { trans, model } = this;
    const costs = recompiled.flatMap(frame => frame.recompileCost ?? []);
    const cost = costs.reduce((sum, value) => sum + value, 0);
    const { kind } = model.report?.subject ?? {};
    const { number = 0, text, why } = eventCountsOf(model).recompiles ?? {};
    const isElsewhere = this.variant !== model.variant;
    const isOneCall = kind !== 'watch' && kind !== 'trace';
    const isSeenElsewhere = (watchedElsewhere(model)?.recompiles ?? 0) > 0;
    return (
      <div className="jp-Compilescope-controls">
        <p>
          {recompiled.length > 0 ? (
            <>
              <strong>{text}</strong>
              {isElsewhere ? ', ' : ' '}
              {trans._n('in one frame', 'in %1 frames', recompiled.length)}
              {costs.length > 0 &&
                `, ${trans.__('%1 in total', formatSeconds(cost))}`}
              {isElsewhere && (
                <span className="jp-Compilescope-muted">
                  {'. '}
                  {trans.__('%1 has none.', model.variant)}
                </span>
              )}
            </>
          ) : number > 0 ? (
            <>
              <strong>{text}</strong>
              {why && `. ${why}`}
            </>
          ) : (
            <>
              {isSeenElsewhere ? (
                <strong>{trans.__('No recompiles in this report.')}</strong>
              ) : (
                <strong className="jp-Compilescope-good">
                  {trans.__('No recompiles')}
                </strong>
              )}{' '}
              {trans._n(
                'One frame, compiled once.',
                'Each of %1 frames was compiled once.',
                allFrames.length
              )}{' '}
              {isOneCall && !isSeenElsewhere && (
                <span className="jp-Compilescope-muted">
                  {trans.__(
                    'Other calls may still recompile: %1 shows those of a loop as they happen.',
                    '%compilescope watch'
                  )}
                </span>
              )}
            </>
          )}
        </p>
        {recompiled.length > 0 && recompiled.length < allFrames.length && (
          <Check
            label={trans.__('Only frames that recompiled')}
            isOn={this._isOnly}
            onChange={on => {
              this._isOnly = on;
              this.update();
            }}
          />
        )}
      </div>
    );
  }

  /**
   * Why calls after the inspected one recompile, and what to change.
   */
  private _laterRecompiles(): JSX.Element | null {
    const { causes = [], remedy } = eventCountsOf(this.model).recompiles ?? {};
    return causes.length > 0 || remedy ? (
      <div className="jp-Compilescope-cards">
        <article className="jp-Compilescope-card">
          {causes.length > 0 && (
            <Failures
              causes={causes}
              context={this.context}
              view={this}
              onGuards={() => undefined}
            />
          )}
          {remedy && (
            <aside
              className="jp-Compilescope-advice"
              aria-label={SUGGESTIONS_TITLE}
            >
              <p>
                <Prose text={remedy} />
              </p>
            </aside>
          )}
        </article>
      </div>
    ) : null;
  }

  private _cards(frame: IFrame, shown: string): JSX.Element {
    const { trans } = this;
    const recompiled = frame.compilations.filter(
      compilation => compilation.recompile
    );
    const isWhole = recompiled.length <= MAX_CARDS || this._isWhole;
    const cards = isWhole
      ? recompiled
      : recompiled.filter(
          (compilation, index) => index < MAX_CARDS || compilation.id === shown
        );
    return (
      <div className="jp-Compilescope-cards">
        {recompiled.length === 0 && (
          <p className="jp-Compilescope-muted">
            {trans.__(
              '%1 was compiled once.',
              frameName(this.model, this.variant, frame.compilations[0].id) ||
                trans.__('Frame %1', frame.key)
            )}
          </p>
        )}
        {cards.map(card => (
          <RecompileCard
            key={card.id}
            compilation={card}
            isChosen={card.id === shown}
            context={this.context}
            view={this}
            onSelect={id => this._select(id)}
            onCompare={(from, to) => this._compare({ from, to })}
            onGuards={id => {
              this._select(id);
              this.context.open('guards');
            }}
          />
        ))}
        <ShowAll
          shown={isWhole ? recompiled.length : cards.length}
          total={recompiled.length}
          onClick={() => {
            this._isWhole = true;
            this.update();
          }}
          trans={trans}
        />
      </div>
    );
  }

  private _select(id: string): void {
    this.model.variant = this.variant;
    this.model.compilation = id;
    this.update();
  }

  private _compare(compared: { from: string; to: string } | null): void {
    this._compared = compared;
    this.update();
  }

  /**
   * The frames, computed once for each answer.
   */
  private _framesOf(compilations: readonly Compilation[]): readonly IFrame[] {
    if (this._known?.compilations !== compilations) {
      this._known = { compilations, frames: framesOf(compilations) };
    }
    return this._known.frames;
  }

  private _known: {
    compilations: readonly Compilation[];
    frames: readonly IFrame[];
  } | null = null;
  private _compared: { from: string; to: string } | null = null;
  private _isOnly = false;
  private _isWhole = false;
}
