import type { EditorView } from '@codemirror/view';
import type { IDisposable } from '@lumino/disposable';
import { spacerHeights, type IAnchor, type ITops } from '../align';
import type { Side } from '../artifacts';
import { currentSpacers, setSpacers, type ISpacer } from './spacers';

/** Spacers within this many pixels of what they should be are left as they are. */
const TOLERANCE = 0.5;

/**
 * Measuring changes spacers, and new spacers ask for measuring. Two rounds settle it; should they
 * ever not (a font that loads, a zoom half way), this many end it until something else happens.
 */
const MAX_ROUNDS = 8;
const ROUNDS_RESET_MS = 250;

/**
 * Keeps two editors aligned: anchors at one height, both scrolled alike.
 *
 * Heights come from the editors themselves (`lineBlockAt`), so folded kernels and wrapped lines
 * count as they are on screen.
 */
export class Alignment implements IDisposable {
  constructor(
    left: EditorView,
    right: EditorView,
    anchors: readonly IAnchor[],
    driver: Side
  ) {
    this._views = { left, right };
    this._anchors = anchors;
    this._driver = driver;
    for (const side of ['left', 'right'] as const) {
      const listener = () => this._scrolled(side);
      this._listeners[side] = listener;
      this._views[side].scrollDOM.addEventListener('scroll', listener, {
        passive: true
      });
    }
    this.schedule();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Take the spacers out again and let both sides scroll freely. */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    cancelAnimationFrame(this._frame);
    for (const side of ['left', 'right'] as const) {
      const view = this._views[side];
      view.scrollDOM.removeEventListener('scroll', this._listeners[side]!);
      if (currentSpacers(view).length) {
        view.dispatch({ effects: setSpacers.of([]) });
      }
    }
  }

  /** Align again in the next frame: a line became higher, a kernel was folded. */
  schedule(): void {
    if (!this._frame && !this._isDisposed) {
      this._frame = requestAnimationFrame(time => {
        this._frame = 0;
        this._align(time);
      });
    }
  }

  /** Let the side that the user does not scroll move alone, until the next scroll. */
  release(side: Side): void {
    this._driver = side === 'left' ? 'right' : 'left';
    this._released = side;
  }

  private _align(time: number): void {
    this._rounds =
      time - this._lastRound > ROUNDS_RESET_MS ? 0 : this._rounds + 1;
    this._lastRound = time;
    const { left, right } = this._views;
    const measured = measure(left, right, this._anchors);
    const spacers = spacerHeights(measured.tops);
    const changed = [
      update(left, measured.lines.left, spacers, 'left'),
      update(right, measured.lines.right, spacers, 'right')
    ].some(Boolean);
    if (changed && this._rounds < MAX_ROUNDS) {
      this.schedule();
    } else if (!this._released) {
      this._follow(this._driver);
    }
  }

  private _scrolled(side: Side): void {
    const { scrollTop } = this._views[side].scrollDOM;
    const expected = this._expected[side];
    this._expected[side] = null;
    if (expected !== null && Math.abs(scrollTop - expected) < 1.5) {
      return;
    }
    if (this._released === side) {
      return;
    }
    this._released = null;
    this._driver = side;
    this._follow(side);
  }

  /** Scroll the other side to where this one is. */
  private _follow(driver: Side): void {
    const other = driver === 'left' ? 'right' : 'left';
    const { scrollTop } = this._views[driver].scrollDOM;
    const { scrollDOM } = this._views[other];
    if (Math.abs(scrollDOM.scrollTop - scrollTop) < 1) {
      return;
    }
    const before = scrollDOM.scrollTop;
    scrollDOM.scrollTop = scrollTop;
    if (scrollDOM.scrollTop !== before) {
      this._expected[other] = scrollDOM.scrollTop;
    }
  }

  private _views: Record<Side, EditorView>;
  private _anchors: readonly IAnchor[];
  private _driver: Side;
  private _released: Side | null = null;
  private _expected: Record<Side, number | null> = { left: null, right: null };
  private _listeners: Partial<Record<Side, () => void>> = {};
  private _frame = 0;
  private _rounds = 0;
  private _lastRound = -Infinity;
  private _isDisposed = false;
}

interface IMeasured {
  lines: Record<Side, number[]>;
  tops: ITops[];
}

/**
 * Where the anchors' lines begin without spacers, in pixels. An anchor that is folded away on
 * either side is left out; the last entry is the end of both texts.
 */
function measure(
  left: EditorView,
  right: EditorView,
  anchors: readonly IAnchor[]
): IMeasured {
  const tops = {
    left: naturalTops(
      left,
      anchors.map(anchor => anchor.left)
    ),
    right: naturalTops(
      right,
      anchors.map(anchor => anchor.right)
    )
  };
  const measured: IMeasured = { lines: { left: [], right: [] }, tops: [] };
  const last = {
    left: left.state.doc.lines + 1,
    right: right.state.doc.lines + 1
  };
  [...anchors, last].forEach((anchor, i) => {
    const l = tops.left[i];
    const r = tops.right[i];
    if (l !== null && r !== null) {
      measured.lines.left.push(anchor.left);
      measured.lines.right.push(anchor.right);
      measured.tops.push({ left: l, right: r });
    }
  });
  return measured;
}

/** The tops of some lines, rising, and the bottom of the text; null for a line folded away. */
function naturalTops(
  view: EditorView,
  lines: readonly number[]
): (number | null)[] {
  const { doc } = view.state;
  const spacers = currentSpacers(view);
  let passed = 0;
  let space = 0;
  const tops = lines.map(line => {
    while (passed < spacers.length && spacers[passed].line < line) {
      space += spacers[passed++].height;
    }
    const { from } = doc.line(line);
    const block = view.lineBlockAt(from);
    return block.from === from ? block.top - space : null;
  });
  while (passed < spacers.length) {
    space += spacers[passed++].height;
  }
  return [...tops, view.lineBlockAt(doc.length).bottom - space];
}

/** Install spacers where they differ from those there are; returns whether they did. */
function update(
  view: EditorView,
  lines: readonly number[],
  heights: readonly ITops[],
  side: Side
): boolean {
  const wanted: ISpacer[] = [];
  lines.forEach((line, i) => {
    const height = heights[i][side];
    if (height > 0) {
      wanted.push({ line, height });
    }
  });
  const current = currentSpacers(view);
  const same =
    wanted.length === current.length &&
    wanted.every(
      (spacer, i) =>
        spacer.line === current[i].line &&
        Math.abs(spacer.height - current[i].height) < TOLERANCE
    );
  if (!same) {
    view.dispatch({ effects: setSpacers.of(wanted) });
  }
  return !same;
}
