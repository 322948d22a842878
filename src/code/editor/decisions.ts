import {
  Prec,
  StateEffect,
  StateField,
  type EditorState,
  type Extension
} from '@codemirror/state';
import {
  gutter,
  GutterMarker,
  keymap,
  showTooltip,
  type Command,
  type EditorView,
  type Tooltip
} from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';
import { DECISION_KINDS, ON_DEVICE_TITLE } from '../../protocol/types';
import type { Decision } from '../types';

/** Line → what was decided there without the device. */
export type Decisions = ReadonlyMap<number, readonly Decision[]>;

export const NO_DECISIONS: Decisions = new Map();

export const setDecisions = StateEffect.define<Decisions>();

/** The line whose decisions are shown; null for none. */
const openDecisions = StateEffect.define<number | null>();

interface IDecided {
  readonly decisions: Decisions;
  readonly openLine: number | null;
}

/**
 * The gutter that marks lines where something was decided by a rule because the device is not there.
 * A click, or `d` on the line, tells what and by which rule.
 */
export function decisionMarks(trans: TranslationBundle): Extension {
  const field = StateField.define<IDecided>({
    create: () => ({ decisions: NO_DECISIONS, openLine: null }),
    update: (value, transaction) => {
      for (const effect of transaction.effects) {
        if (effect.is(setDecisions)) {
          value = { decisions: effect.value, openLine: null };
        } else if (effect.is(openDecisions)) {
          value = { ...value, openLine: effect.value };
        }
      }
      return value;
    }
  });
  const toggle = (view: EditorView, line: number): boolean => {
    const { decisions, openLine } = view.state.field(field);
    if (!decisions.has(line) && openLine === null) {
      return false;
    }
    const isNew = decisions.has(line) && openLine !== line;
    view.dispatch({ effects: openDecisions.of(isNew ? line : null) });
    return true;
  };
  const atCursor: Command = view =>
    toggle(view, view.state.doc.lineAt(view.state.selection.main.head).number);
  const close: Command = view => {
    const { openLine } = view.state.field(field);
    if (openLine !== null) {
      view.dispatch({ effects: openDecisions.of(null) });
    }
    return openLine !== null;
  };
  return [
    field,
    showTooltip.compute([field], state => {
      const { decisions, openLine } = state.field(field);
      const listed = openLine === null ? undefined : decisions.get(openLine);
      return listed ? tooltip(state, openLine!, listed, trans) : null;
    }),
    gutter({
      class: 'jp-Compilescope-code-decisions',
      lineMarker: (view, line) => {
        const { decisions } = view.state.field(field);
        const listed =
          decisions.size > 0
            ? decisions.get(view.state.doc.lineAt(line.from).number)
            : undefined;
        return listed ? new DecisionMarker(titlesOf(listed, trans)) : null;
      },
      lineMarkerChange: update =>
        update.transactions.some(transaction =>
          transaction.effects.some(effect => effect.is(setDecisions))
        ),
      domEventHandlers: {
        click: (view, line) =>
          toggle(view, view.state.doc.lineAt(line.from).number)
      }
    }),
    Prec.high(
      keymap.of([
        { key: 'd', run: atCursor },
        { key: 'Escape', run: close }
      ])
    )
  ];
}

class DecisionMarker extends GutterMarker {
  constructor(readonly text: string) {
    super();
  }

  override eq({ text }: DecisionMarker): boolean {
    return this.text === text;
  }

  override toDOM(): HTMLElement {
    const node = document.createElement('span');
    node.className = 'jp-Compilescope-code-decision';
    node.setAttribute('role', 'img');
    node.setAttribute('aria-label', this.text);
    node.title = this.text;
    node.textContent = '◆';
    return node;
  }
}

function titlesOf(
  decisions: readonly Decision[],
  trans: TranslationBundle
): string {
  const list = decisions.map(
    ({ operator, chosen }) => `${operator}: ${chosen}`
  );
  return [trans.__('Decided by a heuristic, without the device'), ...list].join(
    '\n'
  );
}

function tooltip(
  { doc }: EditorState,
  line: number,
  decisions: readonly Decision[],
  trans: TranslationBundle
): Tooltip | null {
  return line > doc.lines
    ? null
    : {
        pos: doc.line(line).from,
        create: () => ({ dom: render(decisions, trans) })
      };
}

function render(
  decisions: readonly Decision[],
  trans: TranslationBundle
): HTMLElement {
  const node = document.createElement('div');
  node.className = 'jp-Compilescope-code-hover jp-mod-decisions';
  node.setAttribute('role', 'status');
  for (const decision of decisions) {
    const head = node.appendChild(document.createElement('div'));
    head.className = 'jp-Compilescope-code-hoverKind';
    head.textContent = `${DECISION_KINDS[decision.kind]}: ${decision.operator}`;
    const list = node.appendChild(document.createElement('dl'));
    const row = (term: string, text: string) => {
      if (text) {
        list.appendChild(document.createElement('dt')).textContent = term;
        list.appendChild(document.createElement('dd')).textContent = text;
      }
    };
    row(trans.__('Chosen'), decision.chosen);
    row(trans.__('By heuristic'), decision.rule);
    row(ON_DEVICE_TITLE, decision.instead);
  }
  return node;
}
