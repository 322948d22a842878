import { CanvasPen } from '../../../graph/paint/canvasPen';
import { paint } from '../../../graph/paint/painter';
import { Tiles } from '../../../graph/paint/tiles';
import { Camera } from './camera';
import { followPointer } from './gestures';
import { Minimap } from './minimap';
import type { IMarks, ITrace } from './overlay';
import { NO_MARKS, NO_TRACE, paintOverlay, traceEdges } from './overlay';
import type { IPicture } from '../../../graph/paint/picture';

/**
 * The time in a frame for new tiles, in milliseconds.
 */
const BUDGET = 7;

/**
 * The graph on the screen: a canvas with panning, zooming and pointer events.
 * Independent of the report.
 */
export class GraphCanvas {
  constructor(
    private _node: HTMLElement,
    private _options: GraphCanvas.IOptions
  ) {
    this._canvas = document.createElement('canvas');
    this._canvas.setAttribute('aria-hidden', 'true');
    _node.prepend(this._canvas);
    this._minimap = new Minimap(_node, (x, y) => this._center(x, y));
    this._tiles = new Tiles((context, x, y, size, scale) => {
      if (this._picture) {
        paint(
          new CanvasPen(context),
          this._picture,
          { x, y, width: size, height: size },
          scale
        );
      }
    });
    this._stop = followPointer(this._canvas, {
      onPan: (dx, dy) => this.pan(dx, dy),
      onZoom: (factor, x, y) => this.zoom(factor, x, y),
      onPoint: (x, y) => this._point(x, y),
      onLeave: () => _options.onHover(null, 0, 0),
      onClick: (x, y, isDouble) => this._click(x, y, isDouble)
    });
    if (typeof ResizeObserver !== 'undefined') {
      this._observer = new ResizeObserver(() => this._resize());
      this._observer.observe(_node);
    }
    this._resize();
  }

  readonly camera = new Camera();

  /**
   * The times of the last frames, in milliseconds, for a benchmark.
   */
  readonly frames: number[] = [];

  get picture(): IPicture | null {
    return this._picture;
  }

  /**
   * Shows a picture.
   *
   * @param keep - An item that stays in place on the screen.
   */
  setPicture(picture: IPicture | null, keep: number | null = null): void {
    const was = keep !== null ? this._picture?.scene.box(keep) : null;
    const now = keep !== null ? picture?.scene.box(keep) : null;
    const isFirst = !this._picture;
    this._picture = picture;
    this._tiles.clear();
    if (was && now) {
      this.camera.shift(now.x - was.x, now.y - was.y);
      this._moved();
    } else if (isFirst && this._options.isFitted) {
      this.fit();
    } else if (isFirst) {
      this.home();
    }
    this._trace = picture
      ? traceEdges(picture.scene, this._marks.focus)
      : NO_TRACE;
    this._minimap.setPicture(picture);
    this.redraw();
  }

  setMarks(marks: IMarks): void {
    if (marks.focus !== this._marks.focus) {
      this._trace = this._picture
        ? traceEdges(this._picture.scene, marks.focus)
        : NO_TRACE;
    }
    this._marks = marks;
    this.redraw();
  }

  pan(dx: number, dy: number): void {
    this.camera.pan(dx, dy);
    this._moved();
    this.redraw();
  }

  /**
   * Zooms about a point of the canvas; by default about its middle.
   */
  zoom(
    factor: number,
    x: number = this._width / 2,
    y: number = this._height / 2
  ): void {
    this.camera.zoom(factor, x, y);
    this._moved();
    this._options.onScale(this.camera.scale);
    this.redraw();
  }

  /**
   * Shows the whole graph.
   */
  fit(): void {
    const layout = this._picture?.scene.layout;
    if (layout) {
      if (this._width === 0) {
        this._later = () => this.fit();
        return;
      }
      this.camera.fit(layout, this._width, this._height);
      this._settle(() => this.fit());
      this._options.onScale(this.camera.scale);
      this.redraw();
    }
  }

  /**
   * Shows its beginning at a legible scale.
   */
  home(): void {
    const scene = this._picture?.scene;
    if (scene && this._width > 0) {
      const { camera } = this;
      camera.home(scene.layout, this._width, this._height);
      camera.startBefore(
        scene
          .itemsIn(
            camera.x,
            camera.y,
            camera.x,
            camera.y + this._height / camera.scale
          )
          .filter(item => !scene.isOpen(item))
          .flatMap(item => scene.box(item) ?? [])
      );
      this._settle(() => this.home());
      this._options.onScale(this.camera.scale);
      this.redraw();
    } else {
      this._later = () => this.home();
    }
  }

  /**
   * Scrolls items into view: all of them if they are legible then, otherwise
   * the first.
   */
  reveal(...items: number[]): void {
    const { scene } = this._picture ?? {};
    if (!scene || items.length === 0) {
      return;
    }
    if (this._width === 0) {
      this._later = () => this.reveal(...items);
      return;
    }
    const first = scene.box(items[0]);
    const bounds = scene.bounds(items);
    const { camera, _width: width, _height: height } = this;
    const isMoved =
      bounds && camera.holds(bounds, width, height)
        ? camera.frame(bounds, width, height)
        : first && camera.reveal(first, width, height);
    if (isMoved) {
      this._moved();
      this._options.onScale(this.camera.scale);
      this.redraw();
    }
  }

  /**
   * Draws in the next frame.
   */
  redraw(): void {
    if (this._frame === 0) {
      this._frame = requestAnimationFrame(() => {
        this._frame = 0;
        this._draw();
      });
    }
  }

  dispose(): void {
    cancelAnimationFrame(this._frame);
    this._observer?.disconnect();
    this._stop();
    this._minimap.dispose();
    this._canvas.remove();
  }

  private _draw(): void {
    const context = this._canvas.getContext('2d');
    if (!context || this._width === 0) {
      return;
    }
    const start = performance.now();
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!this._picture) {
      context.clearRect(0, 0, this._width, this._height);
      return;
    }
    context.fillStyle = this._picture.theme.background;
    context.fillRect(0, 0, this._width, this._height);
    const { camera } = this;
    const isWhole = this._tiles.draw(
      context,
      camera,
      this._width,
      this._height,
      ratio,
      BUDGET
    );
    context.setTransform(
      ratio * camera.scale,
      0,
      0,
      ratio * camera.scale,
      -camera.x * camera.scale * ratio,
      -camera.y * camera.scale * ratio
    );
    paintOverlay(
      new CanvasPen(context),
      this._picture,
      this._marks,
      this._trace,
      camera.scale
    );
    this._minimap.draw(camera, this._width, this._height);
    this.frames.push(performance.now() - start);
    if (this.frames.length > 600) {
      this.frames.splice(0, 300);
    }
    if (!isWhole) {
      this.redraw();
    }
  }

  private _resize(): void {
    const { clientWidth, clientHeight } = this._node;
    const ratio = window.devicePixelRatio || 1;
    this._width = clientWidth;
    this._height = clientHeight;
    this._canvas.width = Math.round(clientWidth * ratio);
    this._canvas.height = Math.round(clientHeight * ratio);
    if (clientWidth > 0) {
      const later = this._later;
      this._later = null;
      if (this._settled && this._settled.width !== clientWidth) {
        this._settled.settle();
      }
      later?.();
    }
    // Immediately, because a resized canvas is empty.
    this._draw();
  }

  /**
   * Records how the camera was placed: it is placed in the same way for another
   * width, until it is moved.
   */
  private _settle(settle: () => void): void {
    this._settled = { width: this._width, settle };
  }

  private _moved(): void {
    this._settled = null;
  }

  private _center(x: number, y: number): void {
    this.camera.center(x, y, this._width, this._height);
    this._moved();
    this.redraw();
  }

  private _itemAt(x: number, y: number): number | null {
    const at = this.camera.toLayout(x, y);
    return this._picture?.scene.itemAt(at.x, at.y) ?? null;
  }

  private _point(x: number, y: number): void {
    const item = this._itemAt(x, y);
    const scene = this._picture?.scene;
    const isShown =
      item !== null &&
      scene !== undefined &&
      !(item >= scene.nodeCount && scene.isOpen(item));
    this._canvas.style.cursor = isShown ? 'pointer' : '';
    this._options.onHover(isShown ? item : null, x, y);
  }

  private _click(x: number, y: number, isDouble: boolean): void {
    const item = this._itemAt(x, y);
    const scene = this._picture?.scene;
    if (item === null || !scene) {
      this._options.onSelect(null);
      return;
    }
    if (item >= scene.nodeCount) {
      const at = this.camera.toLayout(x, y);
      const box = scene.box(item)!;
      const isName = at.y < box.y + 24 && at.x < box.x + 24;
      if (isName || isDouble) {
        this._options.onToggle(item);
        return;
      }
      // A point inside an open group counts as background.
      if (scene.isOpen(item) && at.y > box.y + 26) {
        this._options.onSelect(null);
        return;
      }
    }
    this._options.onSelect(item);
  }

  private _canvas: HTMLCanvasElement;
  private _minimap: Minimap;
  private _tiles: Tiles;
  private _observer: ResizeObserver | null = null;
  private _stop: () => void;
  private _picture: IPicture | null = null;
  private _marks: IMarks = NO_MARKS;
  private _trace: ITrace = NO_TRACE;
  private _width = 0;
  private _height = 0;
  private _frame = 0;
  private _settled: { width: number; settle: () => void } | null = null;

  /**
   * What is delayed until there is space to draw: a hidden view has none.
   */
  private _later: (() => void) | null = null;
}

/**
 * The namespace for `GraphCanvas` statics.
 */
export namespace GraphCanvas {
  /**
   * The events of the canvas. Items are numbered as in a layout.
   */
  export interface IOptions {
    onSelect: (item: number | null) => void;
    onToggle: (item: number) => void;

    /**
     * The pointer is over an item, or over none; with its position on the
     * canvas.
     */
    onHover: (item: number | null, x: number, y: number) => void;
    onScale: (scale: number) => void;

    /**
     * Whether the whole graph is visible initially, however small.
     */
    isFitted: boolean;
  }
}
