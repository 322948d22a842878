import type { IWindow } from './viewport';
import { pan, zoom } from './viewport';

/**
 * How much closer a step of the keys, or 100 pixels of the wheel, brings.
 */
const STEP = 0.75;

/**
 * How much of the window a key moves it by.
 */
const STRIDE = 0.2;

/**
 * How far the pointer moves, in pixels, before a press is a drag.
 */
export const DRAG_FROM = 4;

/**
 * The window after a turn of the wheel; null if the turn means to scroll.
 *
 * @param x - Where the pointer is, as a part of the width.
 * @param width - Of the chart, in pixels.
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
  // Lines and pages, where a browser counts in those, in pixels.
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
 * The window after a key; null if the key means something else.
 *
 * @param middle - The moment that zooming keeps in place, in µs.
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
