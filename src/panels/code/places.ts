import type { Side } from '../../code/artifacts';
import type { IPlace } from '../../code/editor/place';

/** Layouts less than this apart belong to one change. */
const SAME_CHANGE_MS = 400;

/**
 * Where both sides are scrolled to.
 */
export class Places {
  /**
   * @param _look Where a side is scrolled to now.
   * @param _subject The subject that is shown.
   */
  constructor(
    private _look: (side: Side) => IPlace | null,
    private _subject: () => string | null
  ) {}

  /** The view has been moved from where it opened; until then no place is worth keeping. */
  moved(): void {
    this._movedIn = this._subject();
  }

  /**
   * Where the sides are. The two texts of a flipped switch come one after the other; what counts is
   * where the sides were before the first one.
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
