/**
 * The visible area: the layout point in the upper left corner, and the number of
 * screen pixels per layout pixel.
 */
export interface IViewport {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const SIZE = 512;

/**
 * How many tiles are kept.
 */
const MAX_TILES = 96;

/**
 * A picture in tiles, painted when they are first seen and kept: to pan is to
 * copy them. While the scale changes, tiles of the old one fill in.
 */
export class Tiles {
  /**
   * @param _paint - Paints a part of the layout on a context that is set up for
   * it.
   */
  constructor(
    private _paint: (
      context: CanvasRenderingContext2D,
      x: number,
      y: number,
      size: number,
      scale: number
    ) => void,
    private _create: () => HTMLCanvasElement = () =>
      document.createElement('canvas')
  ) {}

  /**
   * Forget all tiles: the picture is another one.
   */
  clear(): void {
    this._tiles.clear();
    this._old = null;
  }

  /**
   * Draw what can be seen.
   *
   * @param budget - Milliseconds after which no more tiles are painted.
   * @returns Whether every tile that can be seen was there.
   */
  draw(
    context: CanvasRenderingContext2D,
    view: IViewport,
    width: number,
    height: number,
    ratio: number,
    budget: number
  ): boolean {
    if (view.scale !== this._scale || ratio !== this._ratio) {
      if (this._tiles.size > 0 && this._isWhole) {
        this._old = { scale: this._scale, tiles: this._tiles };
      }
      this._tiles = new Map();
      this._scale = view.scale;
      this._ratio = ratio;
      this._isWhole = false;
    }
    const size = SIZE / view.scale;
    const left = Math.floor(view.x / size);
    const top = Math.floor(view.y / size);
    const right = Math.floor((view.x + width / view.scale) / size);
    const bottom = Math.floor((view.y + height / view.scale) / size);
    const start = performance.now();
    let isWhole = true;
    const missing: string[] = [];
    for (let y = top; y <= bottom; y++) {
      for (let x = left; x <= right; x++) {
        const key = `${x} ${y}`;
        let tile = this._tiles.get(key);
        if (!tile && performance.now() - start < budget) {
          tile = this._make(x * size, y * size, size, view.scale, ratio);
          this._tiles.set(key, tile);
        } else if (tile) {
          // The last used last.
          this._tiles.delete(key);
          this._tiles.set(key, tile);
        }
        if (!tile) {
          isWhole = false;
          missing.push(key);
        }
      }
    }
    if (missing.length > 0) {
      this._drawOld(context, view);
    }
    for (let y = top; y <= bottom; y++) {
      for (let x = left; x <= right; x++) {
        const tile = this._tiles.get(`${x} ${y}`);
        if (tile) {
          // Whole pixels: a tile that is moved by a part of one is blurred.
          const at = (value: number) => Math.round(value * ratio) / ratio;
          const dx = at((x * size - view.x) * view.scale);
          const dy = at((y * size - view.y) * view.scale);
          context.drawImage(tile, dx, dy, SIZE, SIZE);
        }
      }
    }
    for (const key of this._tiles.keys()) {
      if (this._tiles.size <= MAX_TILES) {
        break;
      }
      this._tiles.delete(key);
    }
    if (isWhole) {
      this._old = null;
      this._isWhole = true;
    }
    return isWhole;
  }

  private _make(
    x: number,
    y: number,
    size: number,
    scale: number,
    ratio: number
  ): HTMLCanvasElement {
    const canvas = this._create();
    canvas.width = canvas.height = Math.round(SIZE * ratio);
    const context = canvas.getContext('2d')!;
    context.setTransform(
      scale * ratio,
      0,
      0,
      scale * ratio,
      -x * scale * ratio,
      -y * scale * ratio
    );
    this._paint(context, x, y, size, scale);
    return canvas;
  }

  private _drawOld(context: CanvasRenderingContext2D, view: IViewport): void {
    if (!this._old) {
      return;
    }
    const size = SIZE / this._old.scale;
    for (const [key, tile] of this._old.tiles) {
      const [x, y] = key.split(' ').map(Number);
      context.drawImage(
        tile,
        (x * size - view.x) * view.scale,
        (y * size - view.y) * view.scale,
        size * view.scale,
        size * view.scale
      );
    }
  }

  private _tiles = new Map<string, HTMLCanvasElement>();
  private _old: {
    scale: number;
    tiles: Map<string, HTMLCanvasElement>;
  } | null = null;
  private _scale = 0;
  private _ratio = 1;
  private _isWhole = false;
}
