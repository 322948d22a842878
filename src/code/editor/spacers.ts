import { StateEffect, StateField, type Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  WidgetType,
  type DecorationSet
} from '@codemirror/view';

const SPACER_CLASS = 'jp-Compilescope-code-spacer';

/** Empty space above a line, in pixels. A line past the last one means below the text. */
export interface ISpacer {
  line: number;
  height: number;
}

/** Replaces all spacers, which are sorted by line. */
export const setSpacers = StateEffect.define<readonly ISpacer[]>();

interface ISpacers {
  list: readonly ISpacer[];
  decorations: DecorationSet;
}

const spacerField = StateField.define<ISpacers>({
  create: () => ({ list: [], decorations: Decoration.none }),
  update: (spacers, transaction) => {
    for (const effect of transaction.effects) {
      if (effect.is(setSpacers)) {
        const { doc } = transaction.state;
        spacers = {
          list: effect.value,
          decorations: Decoration.set(
            effect.value.map(({ line, height }) =>
              line > doc.lines
                ? widget(height, 1).range(doc.length)
                : widget(height, -1).range(doc.line(line).from)
            )
          )
        };
      }
    }
    return spacers;
  },
  // Block widgets change the layout, so they cannot come from a view plugin.
  provide: field =>
    EditorView.decorations.from(field, spacers => spacers.decorations)
});

/** Spacers that bring two texts to one height. */
export const spacers: Extension = spacerField;

/** The spacers that an editor has now. */
export function currentSpacers(view: EditorView): readonly ISpacer[] {
  return view.state.field(spacerField, false)?.list ?? [];
}

/** Whether an event's target is a spacer, and so no line of the text. */
export function isSpacer(target: EventTarget | null): boolean {
  return target instanceof Element && target.classList.contains(SPACER_CLASS);
}

function widget(height: number, side: number): Decoration {
  return Decoration.widget({
    widget: new Spacer(height),
    block: true,
    side
  });
}

class Spacer extends WidgetType {
  constructor(readonly height: number) {
    super();
  }

  override eq(other: Spacer): boolean {
    return this.height === other.height;
  }

  override toDOM(): HTMLElement {
    const node = document.createElement('div');
    node.className = SPACER_CLASS;
    node.style.height = `${this.height}px`;
    node.setAttribute('aria-hidden', 'true');
    return node;
  }

  override updateDOM(node: HTMLElement): boolean {
    node.style.height = `${this.height}px`;
    return true;
  }

  override get estimatedHeight(): number {
    return this.height;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}
