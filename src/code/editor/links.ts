import {
  RangeSetBuilder,
  StateEffect,
  StateField,
  type EditorState,
  type Extension
} from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';
import type { IHighlight } from '../regions/selectionMarks';
import type { IBar } from '../regions/linkBars';
import { RegionIndex } from '../regions/regions';
import type { Region } from '../types';

/**
 * The links of a text: its regions, and the bars of those with a partner.
 */
export interface ILinks {
  index: RegionIndex;
  bars: ReadonlyMap<string, IBar | null>;
}

export const setLinks = StateEffect.define<ILinks>();
export const setHighlight = StateEffect.define<IHighlight>();

/** The links of an editor's text. */
export const linksField = StateField.define<ILinks>({
  create: state => ({
    index: new RegionIndex([], state.doc.lines),
    bars: new Map()
  }),
  update: (links, transaction) => {
    for (const effect of transaction.effects) {
      if (effect.is(setLinks)) {
        links = effect.value;
      }
    }
    return links;
  }
});

const strong = Decoration.line({ class: 'jp-Compilescope-code-strong' });
const strongFirst = Decoration.line({
  class: 'jp-Compilescope-code-strong jp-Compilescope-code-first'
});
const soft = Decoration.line({ class: 'jp-Compilescope-code-soft' });

const marksField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, transaction) => {
    for (const effect of transaction.effects) {
      if (effect.is(setHighlight)) {
        marks = decorate(transaction.state, effect.value);
      }
    }
    return marks;
  },
  provide: field => EditorView.decorations.from(field)
});

/** The links of a text and the marks of what is selected. */
export const links: Extension = [linksField, marksField];

function decorate(state: EditorState, marks: IHighlight): DecorationSet {
  const byLine = new Map<number, Decoration>();
  for (const region of marks.soft) {
    eachLine(region, state, line => byLine.set(line, soft));
  }
  for (const region of marks.strong) {
    eachLine(region, state, line =>
      byLine.set(line, line === region.start ? strongFirst : strong)
    );
  }
  const builder = new RangeSetBuilder<Decoration>();
  for (const line of [...byLine.keys()].sort((a, b) => a - b)) {
    const { from } = state.doc.line(line);
    builder.add(from, from, byLine.get(line)!);
  }
  return builder.finish();
}

function eachLine(
  region: Region,
  state: EditorState,
  visit: (line: number) => void
): void {
  const end = Math.min(region.end, state.doc.lines);
  for (let line = region.start; line <= end; line++) {
    visit(line);
  }
}
