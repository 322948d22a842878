import { EditorView } from '@codemirror/view';
import type { ITextPosition } from '../../interfaces/selection';
import { sameAddress, type IAddress, type Side } from '../../code/artifacts';
import type { SideState } from '../../code/loader';

/** Where a side is. */
type Addresses = Readonly<Record<Side, IAddress | null>>;

/**
 * A line that another view asked for, until it is in sight. Its text may have to be fetched first.
 */
export class Goal {
  /**
   * Set a goal.
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

  /** Whether a side is on its way to the goal. */
  isFor(side: Side): boolean {
    return this._position !== null && this._side === side;
  }

  /**
   * Scroll to the goal, if the side shows its text by now.
   *
   * @returns Whether it did.
   */
  reach(side: Side, state: SideState, view: EditorView | null): boolean {
    const position = this._position;
    if (!position || side !== this._side || state.kind === 'loading') {
      return false;
    }
    if (state.kind !== 'data') {
      // There is no such text, and the side says so.
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
