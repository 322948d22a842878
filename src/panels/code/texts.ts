import type { EditorView } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ITextPosition } from '../../interfaces/selection';
import type { IAddress, Side } from '../../code/artifacts';
import type { IComparison } from '../../code/comparison';
import { DiffBody } from '../../code/diff';
import { Alignment } from '../../code/editor/scrollAlignment';
import {
  rememberPlace,
  restorePlace,
  type IPlace
} from '../../code/editor/place';
import type { IEditorSetup } from '../../code/editor/setup';
import { Goal } from './goal';
import type { IHighlight } from '../../code/regions/selectionMarks';
import type { SideState } from '../../code/loader';
import type { Mode } from '../../code/mode';
import type { INotes } from '../../code/notes';
import { Pane } from './pane';
import { Places } from './places';
import { SIDES } from '../../code/sides';

/**
 * What to lay out, and how.
 */
export interface ILayout {
  readonly comparison: IComparison;
  readonly states: Readonly<Record<Side, SideState>>;
  readonly mode: Mode;
  readonly marks: Readonly<Record<Side, IHighlight>>;
  /** Whether the panes are stacked. */
  readonly stacked: boolean;
  /** The side that the other one follows. */
  readonly driver: Side;
}

/**
 * Both texts: in two panes, aligned or not, or as a diff. Keeps their scroll
 * positions.
 */
export class Texts {
  constructor(private _options: Texts.IOptions) {
    this.panes = { left: this._pane('left'), right: this._pane('right') };
    this._places = new Places(side => this._place(side), _options.subject);
  }

  readonly panes: Readonly<Record<Side, Pane>>;
  readonly diff = new DiffBody();

  /** Keeps both sides aligned; null if they are not. */
  get alignment(): Alignment | null {
    return this._alignment;
  }

  dispose(): void {
    this._alignment?.dispose();
  }

  /** The editor that shows a side's text. */
  view(side: Side): EditorView | null {
    return this._isDiff ? this.diff.view(side) : this.panes[side].body.view;
  }

  /** Shows texts. An existing layout is kept if it is the same. */
  show(layout: ILayout): void {
    const { comparison, mode } = layout;
    // Signals come in bursts; a new layout would remove the spacers and insert them
    // again.
    if (this._layout?.comparison !== comparison || this._layout.mode !== mode) {
      const places = this._places.remember();
      this._layout = layout;
      this._layOut(layout, places);
    } else {
      this._layout = layout;
      SIDES.forEach(side => this._reach(side));
    }
    this._wrapDiff();
  }

  /** Updates the annotations beside a side's lines. */
  annotate(side: Side, notes: INotes): void {
    this.panes[side].body.annotate(notes);
    this.diff.annotate(side, notes);
  }

  /** Marks the selection. */
  mark(marks: Readonly<Record<Side, IHighlight>>): void {
    if (this._isDiff) {
      this._wrapDiff();
      this.diff.mark(marks);
    } else {
      SIDES.forEach(side => this.panes[side].body.mark(marks[side]));
    }
  }

  /**
   * Shows a line that another view requests, once its text is loaded.
   *
   * @param shown What the sides show.
   * @returns The side to show it on.
   */
  seek(
    position: ITextPosition,
    shown: Readonly<Record<Side, IAddress | null>>
  ): Side {
    this._places.moved();
    return this._goal.set(position, shown);
  }

  /** The texts were scrolled or moved. */
  moved(): void {
    this._places.moved();
  }

  private _layOut(layout: ILayout, places: Record<Side, IPlace | null>): void {
    const { comparison, marks, mode, states } = layout;
    const { bars, texts } = comparison;
    const isDiff = mode === 'diff';
    this._options.begins(mode);
    this.diff.setHidden(!isDiff);
    this._alignment?.dispose();
    this._alignment = null;
    if (isDiff) {
      this.diff.compare(texts.left!, texts.right!, bars, {
        left: this._setup('left'),
        right: this._setup('right')
      });
      this.diff.mark(marks);
      SIDES.forEach(side =>
        this.diff.annotate(side, this._options.notes(side))
      );
    } else {
      this.diff.clear();
    }
    for (const side of SIDES) {
      const { body } = this.panes[side];
      const text = texts[side];
      const state = states[side];
      if (text && !isDiff) {
        body.showText(
          text.result,
          text.index,
          bars,
          marks[side],
          this._setup(side),
          places[side]
        );
      } else if (state.kind !== 'data') {
        body.showMessage(state);
      }
    }
    this._scroll(layout, places);
  }

  /** Restores the scroll positions; initially scrolls to the first kernel launches. */
  private _scroll(
    { comparison, driver, mode }: ILayout,
    places: Record<Side, IPlace | null>
  ): void {
    const restore = (side: Side) => {
      const view = this.view(side);
      if (view && !this._reach(side)) {
        restorePlace(view, places[side]);
      }
    };
    const left = this.panes.left.body.view;
    const right = this.panes.right.body.view;
    if (mode === 'aligned' && left && right) {
      this._alignment = new Alignment(
        left,
        right,
        comparison.anchors,
        driver,
        () => restore(driver)
      );
    } else if (mode === 'independent') {
      SIDES.forEach(restore);
    } else if (places[driver] || this._goal.isFor(driver)) {
      restore(driver);
    }
  }

  private _reach(side: Side): boolean {
    const state = this._layout?.states[side];
    return !!state && this._goal.reach(side, state, this.view(side));
  }

  private _place(side: Side): IPlace | null {
    const view = this.view(side);
    return view && rememberPlace(view);
  }

  private _pane(side: Side): Pane {
    const { rewrapped, pick, trans } = this._options;
    return new Pane(
      side,
      change => pick(side, change),
      () => this.view(side),
      () => {
        this.panes[side].body.wrap(this._wraps(side));
        this.diff.wrap(side, this._wraps(side));
        rewrapped();
      },
      trans
    );
  }

  private _setup(side: Side): IEditorSetup {
    return this._options.setup(side, {
      wrap: this._wraps(side),
      folds: !this._isDiff
    });
  }

  /**
   * Whether a side's lines wrap: as the user chose; always in a diff that is
   * too narrow for lines.
   */
  private _wraps(side: Side): boolean {
    const isNarrow = !!this._layout?.stacked && this._isDiff;
    return this.panes[side].wrap || isNarrow;
  }

  private _wrapDiff(): void {
    if (this._isDiff) {
      SIDES.forEach(side => this.diff.wrap(side, this._wraps(side)));
    }
  }

  private get _isDiff(): boolean {
    return this._layout?.mode === 'diff';
  }

  private _layout: ILayout | null = null;
  private _alignment: Alignment | null = null;
  private _goal = new Goal();
  private _places: Places;
}

/**
 * A namespace for `Texts` statics.
 */
export namespace Texts {
  /**
   * The options with which texts are shown.
   */
  export interface IOptions {
    /** How a side's editor is configured. */
    setup: (
      side: Side,
      how: Pick<IEditorSetup, 'wrap' | 'folds'>
    ) => IEditorSetup;
    /** The annotations beside a side's lines. */
    notes: (side: Side) => INotes;
    /** The shown subject. */
    subject: () => string | null;
    /** Called when the user selects something else to show. */
    pick: (side: Side, change: Partial<IAddress>) => void;
    /** Called before a new layout. */
    begins: (mode: Mode) => void;
    /** Called when the user turns line wrapping on or off. */
    rewrapped: () => void;
    trans: TranslationBundle;
  }
}
