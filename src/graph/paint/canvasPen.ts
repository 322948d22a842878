import type { IPen, IStroke, ITextStyle } from './pen';
import { HALO } from './pen';

/**
 * Paints on a canvas, whose transformation is set.
 */
export class CanvasPen implements IPen {
  constructor(private _context: CanvasRenderingContext2D) {}

  rect(
    x: number,
    y: number,
    width: number,
    height: number,
    radius: number,
    fill: string | null,
    stroke?: IStroke
  ): void {
    const { _context: context } = this;
    if (radius === 0 && fill && !stroke) {
      context.fillStyle = fill;
      context.fillRect(x, y, width, height);
      return;
    }
    context.beginPath();
    if (radius > 0) {
      context.roundRect(x, y, width, height, radius);
    } else {
      context.rect(x, y, width, height);
    }
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      this._stroke(stroke);
    }
  }

  curves(
    points: ArrayLike<number>,
    ranges: readonly number[],
    stroke: IStroke
  ): void {
    const { _context: context } = this;
    context.beginPath();
    for (let r = 0; r < ranges.length; r += 2) {
      let x = points[ranges[r]];
      let y = points[ranges[r] + 1];
      context.moveTo(x, y);
      for (let i = ranges[r] + 2; i < ranges[r + 1]; i += 2) {
        const nextX = points[i];
        const nextY = points[i + 1];
        if (Math.abs(nextX - x) < 0.5) {
          context.lineTo(nextX, nextY);
        } else {
          const middle = (y + nextY) / 2;
          context.bezierCurveTo(x, middle, nextX, middle, nextX, nextY);
        }
        x = nextX;
        y = nextY;
      }
    }
    this._stroke(stroke);
  }

  heads(tips: readonly number[], size: number, fill: string): void {
    const { _context: context } = this;
    context.beginPath();
    for (let i = 0; i < tips.length; i += 2) {
      context.moveTo(tips[i], tips[i + 1]);
      context.lineTo(tips[i] - size * 0.6, tips[i + 1] - size);
      context.lineTo(tips[i] + size * 0.6, tips[i + 1] - size);
      context.closePath();
    }
    context.fillStyle = fill;
    context.fill();
  }

  text(text: string, x: number, y: number, style: ITextStyle): void {
    const { _context: context } = this;
    const font = `${style.weight ?? 400} ${style.size}px ${style.family}`;
    if (font !== this._font) {
      // Setting a font is slow, even the same one.
      context.font = font;
      this._font = font;
    }
    const anchor = style.anchor ?? 'start';
    context.textAlign = anchor === 'middle' ? 'center' : anchor;
    if (style.halo) {
      context.strokeStyle = style.halo;
      context.lineWidth = 2 * HALO;
      context.lineJoin = 'round';
      context.setLineDash([]);
      context.strokeText(text, x, y);
    }
    context.fillStyle = style.color;
    context.fillText(text, x, y);
  }

  private _stroke({ color, width, dash, alpha = 1 }: IStroke): void {
    const { _context: context } = this;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.lineCap = 'round';
    context.lineJoin = 'round';
    context.globalAlpha = alpha;
    context.setLineDash(dash ? [...dash] : []);
    context.stroke();
    context.globalAlpha = 1;
  }

  private _font = '';
}
