import { useVirtualizer } from '@tanstack/react-virtual';
import * as React from 'react';

/**
 * The visible rows of many, all of equal height, navigated with the keyboard.
 */
export interface IRows {
  /**
   * For the element that scrolls.
   */
  readonly ref: React.RefObject<HTMLDivElement>;

  /**
   * The rows to draw: their indices, and their distances from the top.
   */
  readonly visible: readonly { index: number; start: number }[];

  /**
   * The height of all rows, in pixels.
   */
  readonly height: number;

  /**
   * Scrolls a row into view.
   */
  readonly reveal: (index: number) => void;

  /**
   * For the focused element: moves the active row.
   *
   * @returns Whether the key was handled.
   */
  readonly onKey: (event: React.KeyboardEvent) => boolean;
}

/**
 * @param active - The row that the keys move; -1 for none.
 * @param headerHeight - The height of the header, which stays at the top.
 */
export function useRows(options: {
  count: number;
  rowHeight: number;
  active: number;
  onActive: (index: number) => void;
  headerHeight?: number;
}): IRows {
  const { count, rowHeight, active, onActive, headerHeight = 0 } = options;
  const ref = React.useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => ref.current,
    estimateSize: () => rowHeight,
    overscan: 8
  });
  // The virtualizer is notified only later of a changed height, such as that of a
  // table above content that a selection opens.
  const reveal = (index: number) => {
    const node = ref.current;
    if (!node || index < 0 || index >= count) {
      return;
    }
    const top = index * rowHeight;
    const bottom = headerHeight + top + rowHeight - node.clientHeight;
    if (top < node.scrollTop) {
      node.scrollTop = top;
    } else if (bottom > node.scrollTop) {
      node.scrollTop = bottom;
    }
    revealInside(
      scrollerAround(node),
      node.getBoundingClientRect().top + headerHeight + top - node.scrollTop,
      { headerHeight, rowHeight }
    );
  };
  return {
    ref,
    visible: virtualizer
      .getVirtualItems()
      .map(({ index, start }) => ({ index, start })),
    height: virtualizer.getTotalSize(),
    reveal,
    onKey: event => {
      const page = Math.max(
        1,
        Math.floor((ref.current?.clientHeight ?? 0) / rowHeight) - 1
      );
      const moves: Record<string, number> = {
        ArrowDown: active + 1,
        ArrowUp: active < 0 ? count - 1 : active - 1,
        PageDown: active + page,
        PageUp: active - page,
        Home: 0,
        End: count - 1
      };
      const to = moves[event.key];
      if (to === undefined || count === 0 || event.altKey || event.ctrlKey) {
        return false;
      }
      event.preventDefault();
      const index = Math.max(0, Math.min(count - 1, to));
      onActive(index);
      reveal(index);
      return true;
    }
  };
}

/**
 * The nearest ancestor of an element that scrolls vertically.
 */
function scrollerAround(node: HTMLElement): HTMLElement | null {
  const around = node.parentElement;
  if (!around || around.scrollHeight <= around.clientHeight) {
    return around && scrollerAround(around);
  }
  return /auto|scroll/.test(getComputedStyle(around).overflowY)
    ? around
    : scrollerAround(around);
}

/**
 * Scrolls the ancestor of a table until it shows a row, below the table's
 * header.
 *
 * @param top - The top of the row in the window.
 */
function revealInside(
  around: HTMLElement | null,
  top: number,
  { headerHeight, rowHeight }: { headerHeight: number; rowHeight: number }
): void {
  if (!around) {
    return;
  }
  const { top: edge } = around.getBoundingClientRect();
  // Positions may be fractions of pixels, which scrolling rounds.
  const above = Math.ceil(edge - (top - headerHeight));
  const below = Math.ceil(top + rowHeight - (edge + around.clientHeight));
  if (above > 0) {
    around.scrollTop -= above;
  } else if (below > 0) {
    around.scrollTop += below;
  }
}

/**
 * The width of an element in pixels; 0 until it is known.
 */
export function useWidth(ref: React.RefObject<HTMLElement>): number {
  const [width, setWidth] = React.useState(0);
  React.useLayoutEffect(() => {
    const node = ref.current;
    if (!node) {
      return;
    }
    setWidth(node.clientWidth);
    if (typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(() => setWidth(node.clientWidth));
    observer.observe(node);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}
