import type { Extension, Text } from '@codemirror/state';
import { Compartment, StateEffect, StateField } from '@codemirror/state';
import type { DecorationSet } from '@codemirror/view';
import { Decoration, EditorView } from '@codemirror/view';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';

/**
 * One kind of marks in the editors of cells. An editor that was never marked is
 * left as it is.
 */
export class Marker<T> {
  /**
   * @param decorate - The marks in a text.
   */
  constructor(decorate: (doc: Text, items: readonly T[]) => DecorationSet) {
    this._field = StateField.define<DecorationSet>({
      create: () => Decoration.none,
      update: (marks, transaction) => {
        for (const effect of transaction.effects) {
          if (effect.is(this._set)) {
            return decorate(transaction.state.doc, effect.value);
          }
        }
        // Edited code is no longer the code that was compiled.
        return transaction.docChanged ? Decoration.none : marks;
      },
      provide: self => EditorView.decorations.from(self)
    });
  }

  /**
   * Mark these in an editor, and nothing else of the kind.
   */
  mark(editor: CodeEditor.IEditor, items: readonly T[]): void {
    const view = viewOf(editor);
    if (!view) {
      return;
    }
    if (!view.state.field(this._field, false)) {
      if (items.length === 0) {
        return;
      }
      this._install(editor as CodeMirrorEditor, view, this._field);
    }
    view.dispatch({ effects: this._set.of(items) });
  }

  /**
   * Leave an editor as it was before its first mark of the kind.
   */
  remove(editor: CodeEditor.IEditor): void {
    const view = viewOf(editor);
    const compartment = view && this._compartments.get(view);
    if (view && compartment) {
      view.dispatch({ effects: compartment.reconfigure([]) });
    }
  }

  private _install(
    editor: CodeMirrorEditor,
    view: EditorView,
    extension: Extension
  ): void {
    const known = this._compartments.get(view);
    if (known) {
      view.dispatch({ effects: known.reconfigure(extension) });
      return;
    }
    const compartment = new Compartment();
    this._compartments.set(view, compartment);
    editor.injectExtension(compartment.of(extension));
  }

  private _set = StateEffect.define<readonly T[]>();
  private _field: StateField<DecorationSet>;

  /**
   * Where the marks of each editor can be taken out again.
   */
  private _compartments = new WeakMap<EditorView, Compartment>();
}

function viewOf(editor: CodeEditor.IEditor): EditorView | null {
  return editor instanceof CodeMirrorEditor && !editor.isDisposed
    ? editor.editor
    : null;
}
