import { EditorView } from '@codemirror/view';
import type { ITextPosition } from '../../interfaces/selection';
import { sameAddress, type IAddress, type Side } from '../../code/artifacts';
import type { SideState } from '../../code/loader';

/** The scroll position of a side. */
type Addresses = Readonly<Record<Side, IAddress | null>>;

/**
 * A line requested by another view, until it is visible. Its text may have to
 * be fetched first.
 */
export class Goal {
  /**
   * Sets a goal.
   *
   * @param position The text and its line.
   * @param shown What the sides show.
   * @returns The side to show it on: the right one beside another text, else the one that shows the
   * text, else the one with its variant.
   */
  set(position: ITextPosition, shown: Addresses): Side {
    this._position = position;
    this._side =
      position.beside === undefined ? sideOf(position, shown) : 'right';
    return this._side;
  }

  /** Whether a side is still to scroll to the goal. */
  isFor(side: Side): boolean {
    return this._position !== null && this._side === side;
  }

  /**
   * Scrolls to the goal if the side already shows its text.
   *
   * @returns Whether it scrolled.
   */
  reach(side: Side, state: SideState, view: EditorView | null): boolean {
    const position = this._position;
    if (!position || side !== this._side || state.kind === 'loading') {
      return false;
    }
    if (state.kind !== 'data') {
      // There is no such text; the side says so.
      this._position = null;
      return false;
    }
    if (
      !view ||
      state.pending ||
      !sameAddress(state.choice.address, position)
    ) {
      return false;
    }
    this._position = null;
    const { doc } = view.state;
    const line = doc.line(Math.min(position.line ?? 1, doc.lines));
    view.dispatch({
      selection: { anchor: line.from },
      effects: EditorView.scrollIntoView(line.from, {
        y: position.line === null ? 'start' : 'center'
      })
    });
    return true;
  }

  private _position: ITextPosition | null = null;
  private _side: Side = 'left';
}

function sideOf(position: ITextPosition, shown: Addresses): Side {
  const sides: readonly Side[] = ['left', 'right'];
  return (
    sides.find(side => sameAddress(shown[side], position)) ??
    sides.find(side => shown[side]?.variant === position.variant) ??
    'left'
  );
}
