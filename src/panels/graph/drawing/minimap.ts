import { CanvasPen } from '../../../graph/paint/canvasPen';
import { paint } from '../../../graph/paint/painter';
import type { IViewport } from '../../../graph/paint/tiles';
import type { IPicture } from '../../../graph/paint/picture';

const WIDTH = 132;
const HEIGHT = 180;

/**
 * The whole graph in small, with the visible part marked. Hidden while the
 * whole graph is visible.
 */
export class Minimap {
  constructor(parent: HTMLElement, onGo: (x: number, y: number) => void) {
    this._canvas = document.createElement('canvas');
    this._canvas.className = 'jp-Compilescope-graph-minimap';
    this._canvas.setAttribute('aria-hidden', 'true');
    parent.append(this._canvas);
    const go = (event: PointerEvent) => {
      if (event.buttons & 1) {
        const { left, top } = this._canvas.getBoundingClientRect();
        onGo(
          (event.clientX - left - this._left) / this._scale,
          (event.clientY - top - this._top) / this._scale
        );
      }
    };
    this._canvas.addEventListener('pointerdown', event => {
      this._canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    this._canvas.addEventListener('pointermove', go);
  }

  setPicture(picture: IPicture | null): void {
    this._picture = picture;
    this._image = null;
  }

  draw(view: IViewport, width: number, height: number): void {
    const { _canvas: canvas, _picture: picture } = this;
    const layout = picture?.scene.layout;
    const isAll =
      !layout ||
      width < 360 ||
      (view.x <= 0 &&
        view.y <= 0 &&
        view.x + width / view.scale >= layout.width &&
        view.y + height / view.scale >= layout.height);
    canvas.hidden = isAll;
    const context = canvas.getContext('2d');
    if (isAll || !context || !layout || !picture) {
      return;
    }
    const ratio = window.devicePixelRatio || 1;
    if (!this._image) {
      this._image = this._paint(picture, ratio);
    }
    if (canvas.width !== this._image.width) {
      canvas.width = this._image.width;
      canvas.height = this._image.height;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.drawImage(this._image, 0, 0, WIDTH, HEIGHT);
    context.strokeStyle = picture.theme.brand;
    context.lineWidth = 1.5;
    const left = Math.max(0.75, this._left + view.x * this._scale);
    const top = Math.max(0.75, this._top + view.y * this._scale);
    const right = this._left + (view.x + width / view.scale) * this._scale;
    const bottom = this._top + (view.y + height / view.scale) * this._scale;
    context.strokeRect(
      Math.min(left, WIDTH - 3),
      Math.min(top, HEIGHT - 3),
      Math.max(3, Math.min(WIDTH - 0.75, right) - left),
      Math.max(3, Math.min(HEIGHT - 0.75, bottom) - top)
    );
  }

  dispose(): void {
    this._canvas.remove();
  }

  private _paint(picture: IPicture, ratio: number): HTMLCanvasElement {
    const { width, height } = picture.scene.layout;
    const image = document.createElement('canvas');
    image.width = Math.round(WIDTH * ratio);
    image.height = Math.round(HEIGHT * ratio);
    const context = image.getContext('2d')!;
    context.fillStyle = picture.theme.background;
    context.fillRect(0, 0, image.width, image.height);
    this._scale = Math.min((WIDTH - 8) / width, (HEIGHT - 8) / height);
    this._left = (WIDTH - width * this._scale) / 2;
    this._top = (HEIGHT - height * this._scale) / 2;
    const scale = this._scale * ratio;
    context.setTransform(
      scale,
      0,
      0,
      scale,
      this._left * ratio,
      this._top * ratio
    );
    paint(
      new CanvasPen(context),
      { ...picture, fusions: [] },
      { x: 0, y: 0, width, height },
      Math.min(this._scale, 0.05)
    );
    return image;
  }

  private _canvas: HTMLCanvasElement;
  private _picture: IPicture | null = null;
  private _image: HTMLCanvasElement | null = null;
  private _scale = 1;
  private _left = 0;
  private _top = 0;
}
