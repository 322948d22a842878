import { EditorView } from '@codemirror/view';
import type { IHighlight } from '../../code/regions/selectionMarks';
import type { Region } from '../../code/types';

/**
 * Scrolls to what is marked, unless part of it is already visible.
 *
 * @returns Whether the editor scrolls.
 */
export function reveal(view: EditorView, marks: IHighlight): boolean {
  const first =
    marks.strong.find(region => region.kind === 'launch') ?? marks.strong[0];
  if (!first || marks.strong.some(region => isInSight(view, region))) {
    return false;
  }
  const line = Math.min(first.start, view.state.doc.lines);
  view.dispatch({
    effects: EditorView.scrollIntoView(view.state.doc.line(line).from, {
      y: 'center'
    })
  });
  return true;
}

function isInSight(view: EditorView, region: Region): boolean {
  if (region.start > view.state.doc.lines) {
    return false;
  }
  // The element that scrolls the text: the editor's own scroller, or in a diff the
  // one around both editors.
  const scroller = view.dom.closest('.cm-mergeView') ?? view.scrollDOM;
  const window = scroller.getBoundingClientRect();
  const block = view.lineBlockAt(view.state.doc.line(region.start).from);
  const top = view.documentTop + block.top;
  return top >= window.top && top + view.defaultLineHeight <= window.bottom;
}
