import type { EditorView } from '@codemirror/view';
import type { Side } from '../../code/artifacts';
import { marksOf, type IComparison } from '../../code/comparison';
import type { Alignment } from '../../code/editor/scrollAlignment';
import type { IHighlight } from '../../code/regions/selectionMarks';
import { reveal } from './reveal';
import type { ISelection, ISubjectModel } from '../../code/types';

/**
 * Marks the selection on both sides and scrolls it into view.
 */
export class Follower {
  constructor(private _options: Follower.IOptions) {}

  /** What to mark for the selection and everything linked to it. */
  marks(): Record<Side, IHighlight> {
    const { model, comparison } = this._options;
    const { key, source } = model.selection;
    return marksOf(comparison(), { key, source, keys: model.linked.keys });
  }

  /** Marks a new selection, and scrolls to it unless `quiet`. */
  follow(first: Side, quiet: boolean): void {
    const { model, apply } = this._options;
    const marks = this.marks();
    this._selection = model.selection;
    this._isShown = hasMarks(marks);
    apply(marks);
    if (!quiet) {
      this._show(first, marks);
    }
  }

  /** The links of the selection have been resolved. */
  catchUp(): void {
    const { model, origin, apply } = this._options;
    const marks = this.marks();
    apply(marks);
    const wasShown = this._isShown && this._selection === model.selection;
    this._isShown = hasMarks(marks);
    // What is visible must not scroll away because of a second scroll.
    if (!wasShown && model.selection.origin !== origin) {
      this._show('left', marks);
    }
  }

  private _show(first: Side, marks: Record<Side, IHighlight>): void {
    const { model, origin, isDisposed } = this._options;
    const { selection } = model;
    const scrolled = this._reveal(first, marks);
    if (selection.origin === origin) {
      return;
    }
    // Aligned sides scroll together: check the second one when the first has
    // stopped scrolling.
    const second = () => {
      if (!isDisposed() && model.selection === selection) {
        this._reveal('right', marks);
      }
    };
    if (scrolled) {
      requestAnimationFrame(() => requestAnimationFrame(second));
    } else {
      second();
    }
  }

  private _reveal(side: Side, marks: Record<Side, IHighlight>): boolean {
    const { alignment, comparison, view } = this._options;
    const shown = view(side);
    if (!shown) {
      return false;
    }
    const partner = marks[side === 'left' ? 'right' : 'left'];
    const isAnchored = comparison().anchors.some(anchor =>
      marks[side].strong.some(region => region.start === anchor[side])
    );
    const scrolls = reveal(shown, marks[side]);
    if (scrolls && !isAnchored && partner.strong.length) {
      alignment()?.release(side);
    }
    return scrolls;
  }

  private _selection: ISelection | null = null;
  private _isShown = false;
}

/** The namespace for `Follower` statics. */
export namespace Follower {
  /** The texts in which to mark. */
  export interface IOptions {
    model: ISubjectModel;
    /** The origin of selections made in this view. */
    origin: object;
    comparison: () => IComparison;
    alignment: () => Alignment | null;
    view: (side: Side) => EditorView | null;
    apply: (marks: Record<Side, IHighlight>) => void;
    isDisposed: () => boolean;
  }
}

function hasMarks(marks: Record<Side, IHighlight>): boolean {
  return marks.left.strong.length > 0 || marks.right.strong.length > 0;
}
