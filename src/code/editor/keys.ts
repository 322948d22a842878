import { Prec, type Extension } from '@codemirror/state';
import { EditorView, keymap, type Command } from '@codemirror/view';
import type { Region } from '../types';
import { linksField } from './links';
import { isSpacer } from './spacers';

/**
 * The events of an editor.
 */
export interface IEditorEvents {
  /** A region was chosen with the pointer or the keyboard. */
  select: (region: Region) => void;
  /** The selection was cleared. */
  clear: () => void;
  /** The cursor moved to another line. */
  moved: (line: number) => void;
  /** The heights of lines changed, or lines were folded. */
  layoutChanged: () => void;
}

/**
 * Choosing regions with the pointer and with keys: Alt+Up and Alt+Down (or p
 * and n) jump between launches (in a kernel, between its lines), Enter chooses
 * the cursor's line, Escape clears the selection.
 */
export function regionKeys(events: IEditorEvents): Extension {
  const jump =
    (step: 1 | -1): Command =>
    view => {
      const line = view.state.doc.lineAt(view.state.selection.main.head).number;
      const stop = view.state.field(linksField).index.stopFrom(line, step);
      if (stop) {
        const { from } = view.state.doc.line(stop.start);
        view.dispatch({
          selection: { anchor: from },
          effects: EditorView.scrollIntoView(from, { y: 'center' })
        });
        events.select(stop);
      }
      return true;
    };
  const choose: Command = view => {
    const region = regionAt(view, view.state.selection.main.head);
    if (region) {
      events.select(region);
    }
    return true;
  };
  return [
    Prec.high(
      keymap.of([
        { key: 'Alt-ArrowDown', run: jump(1) },
        { key: 'Alt-ArrowUp', run: jump(-1) },
        { key: 'n', run: jump(1) },
        { key: 'p', run: jump(-1) },
        { key: 'Enter', run: choose }
      ])
    ),
    // Last, so that Escape closes the search panel or a tooltip first.
    Prec.lowest(
      keymap.of([{ key: 'Escape', run: () => (events.clear(), true) }])
    ),
    EditorView.updateListener.of(update => {
      if (update.geometryChanged) {
        events.layoutChanged();
      }
    }),
    pointer(events)
  ];
}

/**
 * Choosing with the pointer. The line that becomes active is drawn anew while the button is down,
 * and then browsers report no click: press and release are looked at instead.
 */
function pointer(events: IEditorEvents): Extension {
  let pressed: Region | null = null;
  return EditorView.domEventHandlers({
    mousedown: (event, view) => {
      pressed = null;
      if (event.button === 0 && !isSpacer(event.target)) {
        const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
        pressed = at === null ? null : regionAt(view, at);
      }
      return false;
    },
    mouseup: (event, view) => {
      const region = pressed;
      pressed = null;
      // A drag selects text to copy; it chooses nothing.
      if (region && event.button === 0 && view.state.selection.main.empty) {
        events.select(region);
      }
      return false;
    }
  });
}

function regionAt(view: EditorView, position: number): Region | null {
  const line = view.state.doc.lineAt(position).number;
  const region = view.state.field(linksField).index.at(line);
  return region?.key ? region : null;
}
