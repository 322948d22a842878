import type { IWindow } from './viewport';
import { pan, zoom } from './viewport';

/**
 * The zoom factor of one key press, or of 100 pixels of the wheel.
 */
const STEP = 0.75;

/**
 * The fraction of the window by which a key moves it.
 */
const STRIDE = 0.2;

/**
 * The distance in pixels that the pointer must move before a press is a drag.
 */
export const DRAG_FROM = 4;

/**
 * The window after a turn of the wheel; null if the turn scrolls instead.
 *
 * @param x - The position of the pointer, as a fraction of the width.
 * @param width - The width of the chart, in pixels.
 */
export function onWheel(
  event: Pick<
    WheelEvent,
    'ctrlKey' | 'metaKey' | 'shiftKey' | 'deltaX' | 'deltaY' | 'deltaMode'
  >,
  window: IWindow,
  x: number,
  width: number,
  total: number
): IWindow | null {
  // Browsers that count lines or pages: converted to pixels.
  const unit = [1, 16, 300][event.deltaMode] ?? 1;
  const length = window.end - window.start;
  if (event.ctrlKey || event.metaKey) {
    const factor = STEP ** ((-event.deltaY * unit) / 100);
    return zoom(window, factor, window.start + x * length, total);
  }
  const by = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
  const isSideways = event.shiftKey || Math.abs(by) > Math.abs(event.deltaY);
  return isSideways && by !== 0
    ? pan(window, (by * unit * length) / width, total)
    : null;
}

/**
 * The window after a key press; null if the key has no such meaning.
 *
 * @param middle - The moment that stays in place when zooming, in µs.
 */
export function onKey(
  key: string,
  window: IWindow,
  middle: number,
  total: number
): IWindow | null {
  const length = window.end - window.start;
  switch (key) {
    case '+':
    case '=':
    case 'w':
      return zoom(window, STEP, middle, total);
    case '-':
    case 's':
      return zoom(window, 1 / STEP, middle, total);
    case 'a':
      return pan(window, -STRIDE * length, total);
    case 'd':
      return pan(window, STRIDE * length, total);
    case '0':
      return { start: 0, end: total };
    default:
      return null;
  }
}
