const CELL = 640;

/**
 * Finds the rectangles that a rectangle touches.
 */
export class Grid {
  /**
   * @param boxes - Left, top, right and bottom of the rectangles, in turn.
   */
  constructor(private _boxes: ArrayLike<number>) {
    const count = _boxes.length / 4;
    this._stamps = new Int32Array(count);
    for (let i = 0; i < count; i++) {
      this._each(
        _boxes[4 * i],
        _boxes[4 * i + 1],
        _boxes[4 * i + 2],
        _boxes[4 * i + 3],
        key => {
          const cell = this._cells.get(key);
          if (cell) {
            cell.push(i);
          } else {
            this._cells.set(key, [i]);
          }
        }
      );
    }
  }

  /**
   * Numbers of the rectangles, in their order.
   */
  find(left: number, top: number, right: number, bottom: number): number[] {
    const items: number[] = [];
    const stamp = ++this._stamp;
    const { _boxes: boxes } = this;
    this._each(left, top, right, bottom, key => {
      for (const i of this._cells.get(key) ?? []) {
        if (
          this._stamps[i] !== stamp &&
          boxes[4 * i] <= right &&
          boxes[4 * i + 2] >= left &&
          boxes[4 * i + 1] <= bottom &&
          boxes[4 * i + 3] >= top
        ) {
          this._stamps[i] = stamp;
          items.push(i);
        }
      }
    });
    return items.sort((a, b) => a - b);
  }

  private _each(
    left: number,
    top: number,
    right: number,
    bottom: number,
    visit: (key: number) => void
  ): void {
    const lastX = Math.floor(right / CELL);
    const lastY = Math.floor(bottom / CELL);
    for (let y = Math.floor(top / CELL); y <= lastY; y++) {
      for (let x = Math.floor(left / CELL); x <= lastX; x++) {
        visit(y * 65536 + x);
      }
    }
  }

  private _cells = new Map<number, number[]>();
  private _stamps: Int32Array;
  private _stamp = 0;
}
