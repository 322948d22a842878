import type { TabBar, Widget } from '@lumino/widgets';
import { DockLayout, DockPanel } from '@lumino/widgets';

/**
 * The bar that holds the tab of a widget; null outside of a dock panel.
 */
export function tabBarOf(widget: Widget): TabBar<Widget> | null {
  const dock = widget.parent;
  if (!(dock instanceof DockPanel)) {
    return null;
  }
  const bars = [...dock.tabBars()];
  return bars.find(({ titles }) => titles.includes(widget.title)) ?? null;
}

/**
 * Show a widget instead of the others in its tab bar. The focus stays where it is.
 */
export function bringToFront(widget: Widget): void {
  const bar = tabBarOf(widget);
  if (bar) {
    bar.currentTitle = widget.title;
  }
}

/**
 * How far apart the edges of neighbors may be, in pixels.
 */
const TOLERANCE = 8;

/**
 * Move the border between two widgets of a dock panel. Where they do not stand
 * side by side, as in the single-document mode, nothing changes.
 *
 * @param left - The left widget, laid out.
 * @param right - Its right neighbor.
 * @param share - The right one's part of the width of both, between 0 and 1.
 */
export function divide(left: Widget, right: Widget, share: number): void {
  const dock = right.parent;
  if (!(dock instanceof DockPanel) || !(dock.layout instanceof DockLayout)) {
    return;
  }
  const a = left.node.getBoundingClientRect();
  const b = right.node.getBoundingClientRect();
  const border = [...dock.handles()].find(handle => {
    const box = handle.getBoundingClientRect();
    return (
      box.width > 0 &&
      Math.abs(box.left - a.right) < TOLERANCE &&
      Math.abs(box.right - b.left) < TOLERANCE
    );
  });
  if (border) {
    const origin = dock.node.getBoundingClientRect().left;
    const x = b.right - share * (b.right - a.left) - origin;
    dock.layout.moveHandle(border, x, border.offsetTop);
  }
}
