import { EditorView } from '@codemirror/view';
import type { EditorState, StateEffect } from '@codemirror/state';
import type { RegionIndex } from '../regions';
import { linksField } from './links';

/**
 * What is at the top of an editor, and where its cursor is, in terms that another text knows too.
 */
export interface IPlace {
  /** The key of the first region in sight that has one. */
  key: string | null;
  /** The first line in sight. */
  line: number;
  /** How far that region's (or that line's) top is from the top of the window, in pixels. */
  offset: number;
  cursorKey: string | null;
  cursorLine: number;
}

/** What stays in sight above the first call. */
const CALLS_MARGIN_PX = 40;

/** Remember an editor's place before its text is replaced. */
export function rememberPlace(view: EditorView): IPlace {
  const { index } = view.state.field(linksField);
  const { doc, selection } = view.state;
  const window = view.scrollDOM.getBoundingClientRect();
  const top = window.top - view.documentTop;
  const block = view.lineBlockAtHeight(Math.max(0, top));
  const line = doc.lineAt(block.from).number;
  const last = doc.lineAt(
    view.lineBlockAtHeight(top + window.height).from
  ).number;
  const seen = index.regions.find(
    region =>
      region.key &&
      region.kind !== 'kernel' &&
      region.start >= line &&
      region.start <= last
  );
  const start = seen ? view.lineBlockAt(doc.line(seen.start).from) : block;
  const cursorLine = doc.lineAt(selection.main.head).number;
  return {
    key: seen?.key ?? null,
    line,
    offset: start.top - top,
    cursorKey: index.at(cursorLine)?.key || null,
    cursorLine
  };
}

/** Where the remembered cursor stands in another text. */
export function cursorLine(place: IPlace, index: RegionIndex): number {
  const region = place.cursorKey ? index.withKey(place.cursorKey)[0] : null;
  return region?.start ?? Math.min(place.cursorLine, index.lineCount);
}

/**
 * The effect that scrolls a text, when it is first shown, past imports and definitions to where the
 * kernels are called.
 */
export function scrollToCalls(state: EditorState): StateEffect<unknown> {
  const { launches, regions } = state.field(linksField).index;
  const entry = regions.find(region => region.kind === 'entry');
  const line = launches.length ? (entry ?? launches[0]).start : 1;
  return EditorView.scrollIntoView(state.doc.line(line).from, {
    y: 'start',
    yMargin: CALLS_MARGIN_PX
  });
}

/** The effect that scrolls another text to a remembered place. */
export function scrollToPlace(
  place: IPlace,
  state: EditorState
): StateEffect<unknown> {
  const { index } = state.field(linksField);
  const region = place.key
    ? index.withKey(place.key).find(item => item.kind !== 'kernel')
    : null;
  const line = region?.start ?? Math.min(place.line, state.doc.lines);
  return EditorView.scrollIntoView(state.doc.line(line).from, {
    y: 'start',
    yMargin: Math.max(0, region || !place.key ? place.offset : 0)
  });
}
