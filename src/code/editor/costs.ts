import { StateEffect, StateField, type Extension } from '@codemirror/state';
import { EditorView, gutter, GutterMarker } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Step } from '../../protocol/types';
import {
  formatInterval,
  formatMicroseconds,
  formatShare
} from '../../words/format';
import { kindClass, kindTitle } from '../../words/steps';
import type { ICosts } from '../costs';

/** The costs of an editor's text, and what its bars are drawn against. */
export interface IDrawnCosts {
  readonly costs: ICosts | null;
  /** The longest step of either side, in µs: both have one scale. */
  readonly longest: number;
}

export const NO_COSTS: IDrawnCosts = { costs: null, longest: 0 };

export const setCosts = StateEffect.define<IDrawnCosts>();

const costsField = StateField.define<IDrawnCosts>({
  create: () => NO_COSTS,
  update: (drawn, transaction) => {
    for (const effect of transaction.effects) {
      if (effect.is(setCosts)) {
        drawn = effect.value;
      }
    }
    return drawn;
  }
});

/**
 * The gutter that says what each step costs the host: at its first line the time as a figure and a
 * bar, and along all its lines the color of its kind. It takes no room while nothing is known.
 *
 * Gutters are hidden from screen readers: `moved` is called with the cursor's line, so that its
 * costs can be announced elsewhere.
 */
export function stepCosts(
  trans: TranslationBundle,
  moved: (line: number) => void
): Extension {
  return [
    costsField,
    gutter({
      class: 'jp-Compilescope-code-costs',
      lineMarker: (view, { from }) => {
        const { costs, longest } = view.state.field(costsField);
        if (costs === null) {
          return null;
        }
        const { number } = view.state.doc.lineAt(from);
        const step = costs.byLine.get(number);
        return step
          ? new CostMarker(step, number === step.start, costs, longest, trans)
          : null;
      },
      lineMarkerChange: ({ transactions }) =>
        transactions.some(({ effects }) =>
          effects.some(effect => effect.is(setCosts))
        ),
      // As wide wherever the text is scrolled to.
      initialSpacer: () => new Spacer(false),
      updateSpacer: (spacer, { state }) => {
        const isWide = state.field(costsField).costs !== null;
        return spacer.eq(new Spacer(isWide)) ? spacer : new Spacer(isWide);
      }
    }),
    EditorView.updateListener.of(({ selectionSet, state }) => {
      if (selectionSet) {
        moved(state.doc.lineAt(state.selection.main.head).number);
      }
    })
  ];
}

class CostMarker extends GutterMarker {
  constructor(
    readonly step: Step,
    readonly isFirst: boolean,
    readonly costs: ICosts,
    readonly longest: number,
    readonly trans: TranslationBundle
  ) {
    super();
  }

  override eq({ step, isFirst, longest }: CostMarker): boolean {
    return (
      this.step === step && this.isFirst === isFirst && this.longest === longest
    );
  }

  override toDOM(): HTMLElement {
    const { us } = this.step;
    const node = document.createElement('span');
    node.className = `jp-Compilescope-code-cost ${kindClass(this.step.kind)}`;
    node.classList.toggle('jp-mod-first', this.isFirst);
    node.title = costText(this.step, this.costs, this.trans);
    if (this.isFirst) {
      const share = this.longest > 0 ? Math.max(0, us ?? 0) / this.longest : 0;
      node.style.setProperty('--cs-share', `${share * 100}%`);
      const figure = node.appendChild(document.createElement('span'));
      figure.textContent = us === null ? '–' : formatMicroseconds(us);
    }
    return node;
  }
}

class Spacer extends GutterMarker {
  constructor(readonly isWide: boolean) {
    super();
  }

  override eq({ isWide }: Spacer): boolean {
    return this.isWide === isWide;
  }

  override toDOM(): HTMLElement {
    const node = document.createElement('span');
    node.className = this.isWide ? 'jp-Compilescope-code-cost' : '';
    return node;
  }
}

/** All that was measured of a step, a line each. */
function costText(
  { kind, us, interval_us: interval, how }: Step,
  { sum_us: sum }: ICosts,
  trans: TranslationBundle
): string {
  const share = us !== null && sum > 0 ? formatShare(us / sum) : '';
  return [
    us === null
      ? trans.__(
          '%1: not measured, this path was not executed',
          kindTitle(kind)
        )
      : trans.__(
          '%1: %2 of host time per call, %3 of all steps',
          kindTitle(kind),
          formatMicroseconds(us),
          share
        ),
    interval && trans.__('95 % interval %1', formatInterval(interval)),
    how
  ]
    .filter(Boolean)
    .join('\n');
}
