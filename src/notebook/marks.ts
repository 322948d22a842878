import type { Extension } from '@codemirror/state';
import { Compartment, StateEffect, StateField } from '@codemirror/state';
import type { DecorationSet } from '@codemirror/view';
import { Decoration, EditorView } from '@codemirror/view';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { CodeEditor } from '@jupyterlab/codeeditor';

const setLines = StateEffect.define<readonly number[]>();

const line = Decoration.line({ class: 'jp-Compilescope-cellLine' });

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, transaction) => {
    for (const effect of transaction.effects) {
      if (effect.is(setLines)) {
        const { doc } = transaction.state;
        return Decoration.set(
          effect.value
            .filter(number => number >= 1 && number <= doc.lines)
            .map(number => line.range(doc.line(number).from)),
          true
        );
      }
    }
    // Edited code is no longer the code that was compiled.
    return transaction.docChanged ? Decoration.none : marks;
  },
  provide: self => EditorView.decorations.from(self)
});

/**
 * Where the marks of each editor can be taken out again.
 */
const compartments = new WeakMap<EditorView, Compartment>();

/**
 * Mark lines of an editor, and only these.
 *
 * @param lines - Numbers from 1; lines that do not exist are left out.
 */
export function markLines(
  editor: CodeEditor.IEditor,
  lines: readonly number[]
): void {
  const view = viewOf(editor);
  if (!view) {
    return;
  }
  if (!view.state.field(field, false)) {
    if (lines.length === 0) {
      return;
    }
    install(editor as CodeMirrorEditor, view, field);
  }
  view.dispatch({ effects: setLines.of(lines) });
}

/**
 * Leave an editor as it was before its first mark.
 */
export function unmark(editor: CodeEditor.IEditor): void {
  const view = viewOf(editor);
  const compartment = view && compartments.get(view);
  if (view && compartment) {
    view.dispatch({ effects: compartment.reconfigure([]) });
  }
}

function install(
  editor: CodeMirrorEditor,
  view: EditorView,
  extension: Extension
): void {
  const known = compartments.get(view);
  if (known) {
    view.dispatch({ effects: known.reconfigure(extension) });
    return;
  }
  const compartment = new Compartment();
  compartments.set(view, compartment);
  editor.injectExtension(compartment.of(extension));
}

function viewOf(editor: CodeEditor.IEditor): EditorView | null {
  return editor instanceof CodeMirrorEditor && !editor.isDisposed
    ? editor.editor
    : null;
}
