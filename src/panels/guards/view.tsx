import * as React from 'react';
import { problemOf } from '../../protocol/client';
import type { GuardOutcome } from '../../protocol/types';
import type { IEmpty, IShown } from '../common';
import { pickRemedy, ReportView } from '../common';
import { graphsOf, shownGraph } from '../common/graphs';
import type { IViewContext } from '../views';
import type { IChosenGuard } from './body';
import { GuardsBody } from './body';
import { DEFAULT_OPTIONS } from './filter';
import type { IGraphGuards } from './rows';
import { Tries } from './tries';
import { WhatIf } from './whatIf';

/**
 * The guards of all compilations or of one, and which of them other arguments would fail.
 */
export class GuardsView extends ReportView<IGraphGuards> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'guards',
      lists: 'guards',
      label: context.trans.__('Guards')
    });
  }

  protected override load({ variant }: IShown): Promise<IGraphGuards> {
    const { model } = this;
    const [first] = graphsOf(model, variant, 'guards');
    return this._read(
      variant,
      shownGraph(model) || (first?.id ?? model.compilation)
    );
  }

  protected override whyEmpty(
    { id, why }: IGraphGuards,
    { variant }: IShown
  ): IEmpty | null {
    const { model, trans } = this;
    return !why || graphsOf(model, variant, 'guards').length > 0
      ? null
      : {
          what: trans.__('No guards for %1', id),
          why,
          remedy: pickRemedy(model, trans)
        };
  }

  protected override render(): JSX.Element {
    const call = this._call();
    return (
      <>
        {call && (
          <WhatIf
            key={call.key}
            args={call.args}
            name={call.name}
            tries={this._triesOf(call.key).all.filter(
              ({ variant }) => variant === this.model.variant
            )}
            off={this._whyOff()}
            onTry={args => void this._try(call.key, args)}
            onGoTo={outcome => this._goTo(outcome)}
            selectedText={this.context.selectedText ?? null}
            trans={this.trans}
          />
        )}
        {super.render()}
      </>
    );
  }

  protected override present(
    first: IGraphGuards,
    { subject, variant }: IShown
  ): JSX.Element {
    return (
      <GuardsBody
        key={JSON.stringify([subject, variant])}
        variant={variant}
        first={first}
        read={id => this._read(variant, id)}
        options={this._options}
        onOptions={options => {
          this._options = options;
          this.update();
        }}
        chosen={this._chosenHere()}
        onChoose={chosen => {
          this._chosen = chosen && { ...this._shown(), ...chosen };
          this.update();
        }}
        context={this.context}
        view={this}
      />
    );
  }

  private async _read(variant: string, id: string): Promise<IGraphGuards> {
    const compilation = await this.model.getCompilation(variant, id, [
      'guards'
    ]);
    const { guards, reduced, absent } = compilation;
    const why =
      guards.length > 0
        ? ''
        : reduced ||
          absent.guards ||
          this.trans.__('The compilation ended before torch created any.');
    return { id, compilation, why };
  }

  /**
   * The guard that was chosen, if it is of what is shown.
   */
  private _chosenHere(): IChosenGuard | null {
    const { subject, variant } = this._shown();
    const chosen = this._chosen;
    return chosen?.subject === subject && chosen.variant === variant
      ? chosen
      : null;
  }

  /**
   * The identity of what is shown. Other variants have compilations with the
   * same ids.
   */
  private _shown(): { subject: string | null; variant: string | null } {
    const { subject, variant } = this.model;
    return { subject, variant };
  }

  /**
   * The function that a what-if calls: the subject, or for a watch the function
   * of the shown compilation.
   */
  private _call(): { key: string; name: string; args: string[] } | null {
    const { report, compilation, variant } = this.model;
    if (!report) {
      return null;
    }
    const { id, kind, name, arguments: args } = report.subject;
    if (kind !== 'watch') {
      return { key: id, name, args };
    }
    const shown = report.variants
      .find(summary => summary.name === variant)
      ?.compilations.find(summary => summary.id === compilation);
    return shown
      ? {
          key: `${id} ${shown.frame}`,
          name: shown.where?.function ?? '',
          args: []
        }
      : null;
  }

  private _whyOff(): string {
    const { model, trans } = this;
    if (!model.isLive) {
      return trans.__(
        'Trying other arguments needs the kernel that made the report; it is not connected.'
      );
    }
    return model.status.kind === 'ready'
      ? ''
      : trans.__('Other arguments can be tried once the kernel answers.');
  }

  private _triesOf(key: string): Tries {
    let tries = this._tries.get(key);
    if (!tries) {
      tries = new Tries(() => this.update());
      this._tries.set(key, tries);
    }
    return tries;
  }

  private async _try(key: string, args: string): Promise<void> {
    const { model } = this;
    const { variant } = model;
    const answer = this._triesOf(key).add(variant, args);
    try {
      answer({ result: await model.whatIf(variant, args), problem: null });
    } catch (error) {
      answer({ result: null, problem: problemOf(error) });
    }
  }

  private _goTo({ compilation, guard, place }: GuardOutcome): void {
    this._chosen = {
      ...this._shown(),
      compilation,
      place,
      expression: guard?.expression ?? ''
    };
    // A filtered-out guard could not be shown.
    const { arrangement, order } = this._options;
    this._options = { ...DEFAULT_OPTIONS, arrangement, order };
    this.model.compilation = compilation;
    this.update();
  }

  private _options = DEFAULT_OPTIONS;
  private _chosen:
    (IChosenGuard & { subject: string | null; variant: string | null }) | null =
    null;
  private _tries = new Map<string, Tries>();
}
