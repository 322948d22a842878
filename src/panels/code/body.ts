import { EditorState, type StateEffect } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import {
  foldKernels,
  initialFolds,
  rememberFolds
} from '../../code/editor/folding';
import { linksField, setHighlight, setLinks } from '../../code/editor/links';
import { cursorLine, type IPlace } from '../../code/editor/place';
import { noteEffects } from '../../code/editor/notes';
import {
  editorSetup,
  wrapping,
  type IEditorSetup
} from '../../code/editor/setup';
import type { IHighlight } from '../../code/regions/selectionMarks';
import type { SideState } from '../../code/loader';
import { renderMessage } from '../common/states/message';
import type { IBar } from '../../code/regions/linkBars';
import type { RegionIndex } from '../../code/regions/regions';
import { NO_NOTES, type INotes } from '../../code/notes';
import type { ArtifactResult } from '../../code/types';

/**
 * The lower part of a pane: an editor, or the reason why there is none.
 */
export class CodeBody extends Widget {
  constructor(trans: TranslationBundle) {
    super();
    this._trans = trans;
    this.addClass('jp-Compilescope-code-body');
  }

  /** The editor; null while there is no text. */
  get view(): EditorView | null {
    return this._view;
  }

  override dispose(): void {
    this._view?.destroy();
    this._view = null;
    super.dispose();
  }

  /** Shows why there is no text. */
  showMessage(state: Exclude<SideState, { kind: 'data' }>): void {
    this._drop();
    const problem = state.kind === 'loading' ? null : state.problem;
    this.node.replaceChildren(
      renderMessage(
        problem ?? { what: this._trans.__('Loading…') },
        this._trans
      )
    );
  }

  /**
   * Shows a text. If it replaces another one, folds are kept by kernel, and the
   * cursor by region.
   *
   * @param place The scroll position of the previous text; the panel restores
   * it after layout.
   */
  showText(
    result: ArtifactResult,
    index: RegionIndex,
    bars: ReadonlyMap<string, IBar | null>,
    marks: IHighlight,
    setup: IEditorSetup,
    place: IPlace | null
  ): void {
    if (this._view && this._result === result) {
      this._view.dispatch({
        effects: [setLinks.of({ index, bars }), setHighlight.of(marks)]
      });
      return;
    }
    const old = this._view;
    if (old) {
      rememberFolds(old.state).forEach((folded, name) =>
        this._folds.set(name, folded)
      );
    }
    let state = EditorState.create({
      doc: result.text,
      extensions: [editorSetup(setup), linksField.init(() => ({ index, bars }))]
    });
    const effects: StateEffect<unknown>[] = [
      ...initialFolds(state, this._folds),
      setHighlight.of(marks)
    ];
    const line = place ? cursorLine(place, index) : 1;
    state = state.update({
      effects,
      selection: { anchor: state.doc.line(line).from }
    }).state;
    if (old) {
      const focused = old.hasFocus;
      old.setState(state);
      if (focused) {
        old.focus();
      }
    } else {
      this.node.replaceChildren();
      this._view = new EditorView({ state, parent: this.node });
    }
    this._result = result;
    this.annotate(this._notes);
  }

  /** Annotates the lines with costs and decisions. */
  annotate(notes: INotes): void {
    this._notes = notes;
    this._view?.dispatch({ effects: noteEffects(notes) });
  }

  /** Marks the selection. */
  mark(marks: IHighlight): void {
    this._view?.dispatch({ effects: setHighlight.of(marks) });
  }

  /** Wraps long lines, or stops wrapping them. */
  wrap(on: boolean): void {
    this._view?.dispatch({
      effects: wrapping.reconfigure(on ? EditorView.lineWrapping : [])
    });
  }

  /** Folds or unfolds all kernels. */
  fold(on: boolean): void {
    if (this._view) {
      foldKernels(this._view, on);
    }
  }

  private _drop(): void {
    this._view?.destroy();
    this._view = null;
    this._result = null;
  }

  private _trans: TranslationBundle;
  private _view: EditorView | null = null;
  private _result: ArtifactResult | null = null;
  private _notes = NO_NOTES;
  private _folds = new Map<string, boolean>();
}
