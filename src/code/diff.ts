import { goToNextChunk, goToPreviousChunk, MergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { Widget } from '@lumino/widgets';
import type { Side } from './artifacts';
import type { IText } from './comparison';
import { setHighlight, linksField } from './editor/links';
import { noteEffects } from './editor/notes';
import { editorSetup, wrapping, type IEditorSetup } from './editor/setup';
import type { IHighlight } from './regions/selectionMarks';
import type { INotes } from './notes';
import type { IBar } from './regions/linkBars';

/**
 * The library's own scan limit (500) turns a thousand lines with fifty changes into one change;
 * the timeout is what bounds the work here.
 */
const DIFF_CONFIG = { scanLimit: 1e9, timeout: 1000 };

const COLLAPSE = { margin: 4, minSize: 8 };

/**
 * Two texts as a diff, equal parts collapsed.
 */
export class DiffBody extends Widget {
  constructor() {
    super();
    this.addClass('jp-Compilescope-code-diff');
  }

  /** The number of changes; null while there is no diff. */
  get changes(): number | null {
    return this._merge?.chunks.length ?? null;
  }

  override dispose(): void {
    this.clear();
    super.dispose();
  }

  /** A side's editor. */
  view(side: Side): EditorView | null {
    return (side === 'left' ? this._merge?.a : this._merge?.b) ?? null;
  }

  /** Show nothing. */
  clear(): void {
    this._merge?.destroy();
    this._merge = null;
    this._shown = null;
  }

  /** Show the difference of two texts. */
  compare(
    left: IText,
    right: IText,
    bars: ReadonlyMap<string, IBar | null>,
    setups: Record<Side, IEditorSetup>
  ): void {
    if (
      this._shown?.left.result === left.result &&
      this._shown.right.result === right.result
    ) {
      return;
    }
    this.clear();
    const side = (text: IText, setup: IEditorSetup) => ({
      doc: text.result.text,
      extensions: [
        editorSetup(setup),
        linksField.init(() => ({ index: text.index, bars }))
      ]
    });
    const identical = left.result.text === right.result.text;
    this._merge = new MergeView({
      a: side(left, setups.left),
      b: side(right, setups.right),
      parent: this.node,
      diffConfig: DIFF_CONFIG,
      // All of it would be collapsed, and nothing left to read.
      collapseUnchanged: identical ? undefined : COLLAPSE
    });
    this._shown = { left, right };
  }

  /** Go to the next change, or to the one before. */
  step(step: 1 | -1): void {
    const view = this._merge?.b;
    if (view) {
      (step > 0 ? goToNextChunk : goToPreviousChunk)(view);
      view.focus();
    }
  }

  /** Mark what is selected. */
  mark(marks: Record<Side, IHighlight>): void {
    this._merge?.a.dispatch({ effects: setHighlight.of(marks.left) });
    this._merge?.b.dispatch({ effects: setHighlight.of(marks.right) });
  }

  /** Say beside a side's lines what they cost, and what was decided there. */
  annotate(side: Side, notes: INotes): void {
    this.view(side)?.dispatch({ effects: noteEffects(notes) });
  }

  /** Wrap a side's long lines, or let them run on. */
  wrap(side: Side, on: boolean): void {
    this.view(side)?.dispatch({
      effects: wrapping.reconfigure(on ? EditorView.lineWrapping : [])
    });
  }

  private _merge: MergeView | null = null;
  private _shown: Record<Side, IText> | null = null;
}
