import type { EditorView } from '@codemirror/view';
import type { IDisposable } from '@lumino/disposable';
import type { Side } from '../artifacts';
import type { IAnchor } from '../regions/anchors';
import { spacerHeights, type IAnchorTops } from '../regions/spacerHeights';
import { currentSpacers, setSpacers, type ISpacer } from './spacers';

/** Spacers are only changed if they are off by more than this many pixels. */
const TOLERANCE = 0.1;

/**
 * New spacers make an editor estimate anew how high the wrapped lines out of sight are, and new
 * estimates ask for other spacers: without a limit the two would never come to rest. After this
 * many rounds only what is in sight counts; the rest is settled when it is scrolled to.
 */
const ROUNDS_FOR_ALL = 3;

/** Rounds end here, until something else happens (a font that loads, a zoom half way). */
const MAX_ROUNDS = 8;

/** Rounds within this time of each other count as one series. */
const ROUNDS_RESET_MS = 250;

/**
 * How long a side that was released still scrolls by itself; later scrolls are
 * the user's.
 */
const RELEASE_MS = 300;

/**
 * Keeps two editors aligned: anchors at one height, both scrolled alike.
 *
 * Heights come from the editors themselves (`lineBlockAt`), so folded kernels and wrapped lines
 * count as they are on screen.
 */
export class Alignment implements IDisposable {
  /**
   * @param driver The side that the other one follows until the user scrolls.
   * @param onSettled Called once, when the two stand aligned for the first time.
   */
  constructor(
    left: EditorView,
    right: EditorView,
    anchors: readonly IAnchor[],
    driver: Side,
    onSettled: () => void
  ) {
    this._onSettled = onSettled;
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

  /** Remove the spacers and let both sides scroll freely. */
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
    const pause = performance.now() - this._lastRound > ROUNDS_RESET_MS;
    if (pause) {
      this._rounds = 0;
    }
    if (!this._frame && !this._isDisposed && this._rounds < MAX_ROUNDS) {
      this._frame = requestAnimationFrame(() => {
        this._frame = 0;
        this._align();
      });
    }
  }

  /** Let the side that the user does not scroll move alone, until the next scroll. */
  release(side: Side): void {
    this._driver = side === 'left' ? 'right' : 'left';
    this._released = side;
    this._releasedAt = performance.now();
  }

  private _align(): void {
    this._rounds++;
    this._lastRound = performance.now();
    const { left, right } = this._views;
    const anchors =
      this._rounds <= ROUNDS_FOR_ALL
        ? this._anchors
        : this._anchors.filter(
            anchor =>
              isReached(left, anchor.left) || isReached(right, anchor.right)
          );
    const isWhole = anchors.length === this._anchors.length;
    const measured = measure(left, right, anchors, isWhole);
    const spacers = spacerHeights(measured.tops);
    const changed = [
      update(left, measured.lines.left, spacers, 'left', isWhole),
      update(right, measured.lines.right, spacers, 'right', isWhole)
    ].some(Boolean);
    if (changed && this._rounds < MAX_ROUNDS) {
      this.schedule();
      return;
    }
    if (!this._settled) {
      this._settled = true;
      this._onSettled();
    }
    if (!this._released) {
      this._follow(this._driver);
    }
  }

  private _scrolled(side: Side): void {
    if (!this._settled) {
      // Both texts may just have been scrolled to their own places; the driver's counts.
      return;
    }
    const { scrollTop } = this._views[side].scrollDOM;
    const expected = this._expected[side];
    this._expected[side] = null;
    if (expected !== null && Math.abs(scrollTop - expected) < 1.5) {
      return;
    }
    if (
      this._released === side &&
      performance.now() - this._releasedAt < RELEASE_MS
    ) {
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
  private _releasedAt = 0;
  private _settled = false;
  private _onSettled: () => void;
  private _expected: Record<Side, number | null> = { left: null, right: null };
  private _listeners: Partial<Record<Side, () => void>> = {};
  private _frame = 0;
  private _rounds = 0;
  private _lastRound = -Infinity;
  private _isDisposed = false;
}

interface IMeasured {
  lines: Record<Side, number[]>;
  tops: IAnchorTops[];
}

/**
 * Where the anchors' lines begin without spacers, in pixels. An anchor that is folded away on
 * either side is left out; the last entry is the end of both texts, where `isWhole`.
 */
function measure(
  left: EditorView,
  right: EditorView,
  anchors: readonly IAnchor[],
  isWhole: boolean
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
  (isWhole ? [...anchors, last] : anchors).forEach((anchor, i) => {
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

/** Whether a line is above the end of what is drawn, and so counts for what is in sight. */
function isReached(view: EditorView, line: number): boolean {
  return view.state.doc.line(line).from <= view.viewport.to;
}

/**
 * Install spacers where they differ from those there are; returns whether they did. Unless `isWhole`,
 * those below the last line stay.
 */
function update(
  view: EditorView,
  lines: readonly number[],
  heights: readonly IAnchorTops[],
  side: Side,
  isWhole: boolean
): boolean {
  const current = currentSpacers(view);
  const spacers: ISpacer[] = [];
  lines.forEach((line, i) => {
    const height = heights[i][side];
    if (height > 0) {
      spacers.push({ line, height });
    }
  });
  if (!isWhole) {
    const last = lines[lines.length - 1] ?? 0;
    spacers.push(...current.filter(spacer => spacer.line > last));
  }
  const same =
    spacers.length === current.length &&
    spacers.every(
      (spacer, i) =>
        spacer.line === current[i].line &&
        Math.abs(spacer.height - current[i].height) < TOLERANCE
    );
  if (!same) {
    view.dispatch({ effects: setSpacers.of(spacers) });
  }
  return !same;
}
