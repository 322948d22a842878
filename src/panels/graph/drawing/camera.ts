import type { IBox } from '../../../graph/paint/scene';
import type { IViewport } from '../../../graph/paint/tiles';

const MIN_SCALE = 0.004;
const MAX_SCALE = 4;
const MARGIN = 24;

/**
 * From this scale on, names are legible.
 */
const READABLE_SCALE = 0.42;

/**
 * The part of a layout that is on the screen.
 */
export class Camera implements IViewport {
  x = 0;
  y = 0;
  scale = 1;

  pan(dx: number, dy: number): void {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
  }

  /**
   * Moves with the layout.
   */
  shift(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
  }

  /**
   * Zooms so that a point of the screen stays in place.
   */
  zoom(factor: number, x: number, y: number): void {
    const scale = Math.max(MIN_SCALE, Math.min(MAX_SCALE, this.scale * factor));
    const at = this.toLayout(x, y);
    this.scale = scale;
    this.x = at.x - x / scale;
    this.y = at.y - y / scale;
  }

  toLayout(x: number, y: number): { x: number; y: number } {
    return { x: this.x + x / this.scale, y: this.y + y / this.scale };
  }

  center(x: number, y: number, width: number, height: number): void {
    this.x = x - width / this.scale / 2;
    this.y = y - height / this.scale / 2;
  }

  fit(
    layout: { width: number; height: number },
    width: number,
    height: number
  ): void {
    this.scale = Math.max(
      MIN_SCALE,
      Math.min(1, scaleToFit(layout, width, height))
    );
    this.center(layout.width / 2, layout.height / 2, width, height);
  }

  /**
   * All of a small graph; the beginning of a large one.
   */
  home(
    layout: { width: number; height: number },
    width: number,
    height: number
  ): void {
    this.fit(layout, width, height);
    const readable = Math.min(
      1,
      Math.max(0.6, (width - 2 * MARGIN) / Math.max(1, layout.width))
    );
    if (this.scale < readable) {
      this.scale = readable;
      this.center(layout.width / 2, 0, width, 0);
      this.y = -MARGIN / this.scale;
    }
  }

  /**
   * Moves left until the left edge cuts none of the given boxes.
   */
  startBefore(boxes: readonly IBox[]): void {
    const cut = boxes.filter(
      ({ x, width }) => x < this.x && x + width > this.x
    );
    if (cut.length > 0) {
      this.x = Math.min(...cut.map(({ x }) => x)) - MARGIN / this.scale;
    }
  }

  /**
   * Whether a box with a margin fits on the screen at a legible scale.
   */
  holds(box: IBox, width: number, height: number): boolean {
    return scaleToFit(box, width, height) >= READABLE_SCALE;
  }

  /**
   * Scrolls all of a box into view, with a margin. What is visible stays in
   * place, and what is legible keeps its scale as far as it fits.
   *
   * @returns Whether the camera changed.
   */
  frame(box: IBox, width: number, height: number): boolean {
    const margin = MARGIN / this.scale;
    const isIn =
      box.x - margin >= this.x &&
      box.y - margin >= this.y &&
      box.x + box.width + margin <= this.x + width / this.scale &&
      box.y + box.height + margin <= this.y + height / this.scale;
    if (isIn && this.scale >= READABLE_SCALE) {
      return false;
    }
    const scale = this.scale < READABLE_SCALE ? 0.7 : this.scale;
    this.scale = Math.min(scale, scaleToFit(box, width, height));
    this.center(box.x + box.width / 2, box.y + box.height / 2, width, height);
    return true;
  }

  /**
   * Scrolls a box into view, close enough to be legible.
   *
   * @returns Whether the camera changed.
   */
  reveal(box: IBox, width: number, height: number): boolean {
    const isIn =
      box.x >= this.x &&
      box.y >= this.y &&
      box.x + box.width <= this.x + width / this.scale &&
      box.y + Math.min(box.height, 40) <= this.y + height / this.scale;
    if (isIn && this.scale >= READABLE_SCALE) {
      return false;
    }
    this.scale = Math.max(this.scale, 0.7);
    // If the box is larger than the screen, its beginning.
    const tall = Math.min(box.height, (height * 0.7) / this.scale);
    this.center(box.x + box.width / 2, box.y + tall / 2, width, height);
    return true;
  }
}

/**
 * The scale at which a box with a margin fills the screen.
 */
function scaleToFit(
  size: { width: number; height: number },
  width: number,
  height: number
): number {
  return Math.min(
    (width - 2 * MARGIN) / Math.max(1, size.width),
    (height - 2 * MARGIN) / Math.max(1, size.height)
  );
}
