import { BlockType, EditorView } from '@codemirror/view';
import type { EditorState, StateEffect } from '@codemirror/state';
import type { RegionIndex } from '../regions/regions';
import { linksField } from './links';

/**
 * The scroll position and the cursor of an editor, relative to regions that
 * another text may also have.
 */
export interface IPlace {
  /** The key of the first visible region that has one. */
  key: string | null;
  /** The first visible line. */
  line: number;
  /** How far that region's (or that line's) top is from the top of the window, in pixels. */
  offset: number;
  cursorKey: string | null;
  cursorLine: number;
}

/** How much stays visible above the first call. */
const CALLS_MARGIN_PX = 90;

/** Remember an editor's place before its text, or the way it is shown, changes. */
export function rememberPlace(view: EditorView): IPlace {
  const { index } = view.state.field(linksField);
  const { doc, selection } = view.state;
  // In a diff it is not the editor that scrolls, but what is around both.
  const scroller = view.dom.closest('.cm-mergeView') ?? view.scrollDOM;
  const window = scroller.getBoundingClientRect();
  const top = Math.max(0, window.top - view.documentTop);
  const line = lineAtHeight(view, top);
  const last = lineAtHeight(view, top + window.height);
  const inSight = index.regions.filter(
    region =>
      region.key &&
      region.kind !== 'kernel' &&
      region.start >= line &&
      region.start <= last &&
      textTop(view, region.start) >= top
  );
  // Launches are what both wrappers have in the same order.
  const seen = inSight.find(region => region.kind === 'launch') ?? inSight[0];
  const cursorLine = doc.lineAt(selection.main.head).number;
  return {
    key: seen?.key ?? null,
    line,
    offset: textTop(view, seen?.start ?? line) - top,
    cursorKey: index.at(cursorLine)?.key || null,
    cursorLine
  };
}

function lineAtHeight(view: EditorView, height: number): number {
  return view.state.doc.lineAt(view.lineBlockAtHeight(height).from).number;
}

/** The top of a line's text, below any spacer, in pixels from the top of all text. */
function textTop(view: EditorView, line: number): number {
  const block = view.lineBlockAt(view.state.doc.line(line).from);
  const parts = Array.isArray(block.type) ? block.type : [block];
  return (parts.find(part => part.type === BlockType.Text) ?? block).top;
}

/** Scroll to a remembered place; without one, to where the kernels are called. */
export function restorePlace(view: EditorView, place: IPlace | null): void {
  view.dispatch({
    effects: place
      ? scrollToPlace(place, view.state)
      : scrollToCalls(view.state)
  });
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
function scrollToCalls(state: EditorState): StateEffect<unknown> {
  const { launches } = state.field(linksField).index;
  const line = launches[0]?.start ?? 1;
  return EditorView.scrollIntoView(state.doc.line(line).from, {
    y: 'start',
    yMargin: CALLS_MARGIN_PX
  });
}

/** The effect that scrolls another text to a remembered place. */
function scrollToPlace(
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
