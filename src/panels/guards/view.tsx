import * as React from 'react';
import { problemOf } from '../../protocol/client';
import type { Compilation, Guard, GuardOutcome } from '../../protocol/types';
import type { IEmpty, IShown } from '../common';
import { isSelected, pickRemedy, ReportView } from '../common';
import type { IViewContext } from '../views';
import { Conditions } from './conditions';
import { Controls } from './controls';
import { Details } from './details';
import type { IGuardOptions } from './filter';
import { DEFAULT_OPTIONS } from './filter';
import { GuardList } from './list';
import { Summary } from './summary';
import { summarize } from './totals';
import { Tries } from './tries';
import { WhatIf } from './whatIf';

/**
 * The guards of a compilation, and which of them would fail for other
 * arguments.
 */
export class GuardsView extends ReportView<Compilation> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'guards',
      label: context.trans.__('Guards')
    });
  }

  protected load({ variant, compilation }: IShown): Promise<Compilation> {
    return this.model.getCompilation(variant, compilation, ['guards']);
  }

  protected override whyEmpty({
    id,
    guards,
    absent,
    reduced
  }: Compilation): IEmpty | null {
    const { trans } = this;
    return guards.length > 0
      ? null
      : {
          what: trans.__('No guards for %1', id),
          why:
            reduced ||
            absent.guards ||
            trans.__('The compilation ended before torch created any.'),
          remedy: pickRemedy(this.model, this.trans)
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

  protected present(compilation: Compilation): JSX.Element {
    const { context, trans } = this;
    const hasTree = compilation.guard_tree.length > 0;
    const options: IGuardOptions =
      this._options.arrangement === 'tree' && !hasTree
        ? { ...this._options, arrangement: 'source' }
        : this._options;
    const summary = summarize(compilation);
    const chosen = this._chosenIn(compilation);
    const marked = this._marked(compilation.guards);
    const noCost = compilation.absent.guard_costs ?? trans.__('not measured');
    return (
      <>
        <Summary
          summary={summary}
          noCost={noCost}
          noHits={compilation.absent.guard_hits ?? ''}
          lacking={compilation.absent.added_guards ?? ''}
          trans={trans}
        />
        {compilation.conditions.length > 0 && (
          <Conditions
            conditions={compilation.conditions}
            chosen={chosen}
            onChoose={index => this._choose(compilation, index)}
            trans={trans}
          />
        )}
        <Controls
          guards={compilation.guards}
          hasTree={hasTree}
          marked={marked}
          hasLine={
            this.model.selection.source !== null ||
            this.model.linked.sources.length > 0
          }
          options={options}
          onChange={change => {
            this._options = { ...options, ...change };
            this.update();
          }}
          trans={trans}
        />
        <GuardList
          compilation={compilation}
          options={options}
          columns={{
            context,
            view: this,
            scale:
              (options.arrangement === 'tree' ? summary.cost : null) ??
              summary.highest,
            noCost,
            hasCosts: summary.cost !== null || summary.highest !== null,
            hasHits: compilation.guards.some(guard => guard.hits !== null),
            hasFails:
              compilation.guards.some(guard => guard.fails) ||
              compilation.guard_tree.some(guardManager => guardManager.fails),
            noCounts: compilation.absent.guard_hits ?? trans.__('not counted')
          }}
          chosen={chosen}
          onChoose={index => this._choose(compilation, index)}
        />
        {chosen !== null && (
          <Details
            guard={compilation.guards[chosen]}
            compilation={compilation}
            context={context}
            view={this}
            onClose={() => {
              this._chosen = null;
              this.update();
            }}
          />
        )}
      </>
    );
  }

  private _choose({ id, guards }: Compilation, index: number): void {
    this._chosen = { ...this._shown(), compilation: id, index, expression: '' };
    const { origin } = guards[index];
    if (origin) {
      const { file, line } = origin;
      this.model.select({ source: { file, line }, origin: this });
    }
    this.update();
  }

  /**
   * The index of the selected guard, if it belongs to this compilation.
   */
  private _chosenIn({ id, guards }: Compilation): number | null {
    const chosen = this._chosen;
    const { subject, variant } = this._shown();
    if (
      chosen?.compilation !== id ||
      chosen.subject !== subject ||
      chosen.variant !== variant
    ) {
      return null;
    }
    const place =
      chosen.index ??
      guards.findIndex(guard => guard.expression === chosen.expression);
    return place >= 0 && place < guards.length ? place : null;
  }

  /**
   * The identity of what is shown. Other variants have compilations with the
   * same ids.
   */
  private _shown(): { subject: string | null; variant: string | null } {
    const { subject, variant } = this.model;
    return { subject, variant };
  }

  private _marked(guards: readonly Guard[]): number {
    return guards.filter(guard => isSelected(this.context, guard.origin))
      .length;
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
      index: place,
      expression: guard?.expression ?? ''
    };
    // A filtered-out guard could not be shown.
    const { arrangement, order } = this._options;
    this._options = { ...DEFAULT_OPTIONS, arrangement, order };
    this.model.compilation = compilation;
    this.update();
  }

  private _options = DEFAULT_OPTIONS;
  private _chosen: {
    subject: string | null;
    variant: string | null;
    compilation: string;
    index: number | null;
    expression: string;
  } | null = null;
  private _tries = new Map<string, Tries>();
}
