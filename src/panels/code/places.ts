import type { Side } from '../../code/artifacts';
import type { IPlace } from '../../code/editor/place';

/** Layouts less than this far apart belong to one change. */
const SAME_CHANGE_MS = 400;

/**
 * The scroll positions of both sides.
 */
export class Places {
  /**
   * @param _look The current scroll position of a side.
   * @param _subject The shown subject.
   */
  constructor(
    private _look: (side: Side) => IPlace | null,
    private _subject: () => string | null
  ) {}

  /** The view was scrolled or moved; until then no position is worth keeping. */
  moved(): void {
    this._movedIn = this._subject();
  }

  /**
   * The positions of the sides. The two texts of a flipped switch arrive one
   * after the other: the positions before the first one count.
   */
  remember(): Record<Side, IPlace | null> {
    if (this._movedIn !== this._subject()) {
      return { left: null, right: null };
    }
    const now = performance.now();
    if (now - this._time > SAME_CHANGE_MS) {
      this._places = { left: this._look('left'), right: this._look('right') };
    }
    this._time = now;
    return this._places;
  }

  private _places: Record<Side, IPlace | null> = { left: null, right: null };
  private _time = -Infinity;
  private _movedIn: string | null = null;
}
