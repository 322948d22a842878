import type { IDisposable } from '@lumino/disposable';
import { baseLayout, CONFIG } from './layout';
import type { IFigure, IPlotElement, IPlotly } from './plotly';
import { loadPlotly } from './plotly';
import type { IChartTheme } from './theme';
import { onThemeChange, readChartTheme } from './theme';

/**
 * Makes a figure for a place in the page.
 */
export type MakeFigure = (
  theme: IChartTheme,
  size: { readonly width: number; readonly height: number }
) => IFigure;

/**
 * After a drawing a new figure of a measurement waits for so many times as long as it
 * took, painting included: they come twice a second, and its calls need the processor.
 */
const PAUSE_FACTOR = 7;

/**
 * In milliseconds. A page that was hidden meanwhile would wait for hours.
 */
const MAX_PAUSE_MS = 2000;

/**
 * A plot in an element. It is drawn at most once a frame, with what is newest,
 * and again when the element's size or the theme changes; while the element
 * cannot be seen it is not drawn.
 */
export class Plot implements IDisposable {
  /**
   * @param _host - An empty element with the class `jp-Compilescope-chart`.
   * Its style gives its size.
   */
  constructor(
    private _host: HTMLElement,
    private _options: Plot.IOptions = {}
  ) {
    this._sizes = new ResizeObserver(() => this._adapt());
    this._sizes.observe(_host);
    this._stopThemes = onThemeChange(() => {
      this._theme = null;
      this._adapt();
    });
  }

  /**
   * Show a figure.
   *
   * @param make - Called when it is drawn, perhaps again.
   */
  show(make: MakeFigure): void {
    this._make = make;
    this._requestLater();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    cancelAnimationFrame(this._frame);
    clearTimeout(this._timer);
    this._sizes.disconnect();
    this._stopThemes();
    if (this._isDrawn) {
      this._plotly?.purge(this._host);
    }
  }

  /**
   * The size or the theme has changed, which waits for nothing but a drawing.
   */
  private _adapt(): void {
    this._restUntil = 0;
    this._hasAdapted = true;
    this._request();
  }

  private _requestLater(): void {
    clearTimeout(this._timer);
    const rest = this._restUntil - performance.now();
    if (this._options.isLive && rest > 0) {
      this._timer = window.setTimeout(() => this._request(), rest);
    } else {
      this._request();
    }
  }

  private _request(): void {
    if (this._isDisposed || this._frame || !this._make) {
      return;
    }
    if (this._isDrawing) {
      this._isStale = true;
      return;
    }
    this._frame = requestAnimationFrame(() => {
      this._frame = 0;
      void this._drawAndPause();
    });
  }

  private async _drawAndPause(): Promise<void> {
    this._isDrawing = true;
    this._hasAdapted = false;
    const start = performance.now();
    try {
      await this._draw();
    } catch (error) {
      this._options.onError?.(error);
    }
    await painted();
    const end = performance.now();
    const rest = Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (end - start));
    this._restUntil = this._hasAdapted ? 0 : end + rest;
    this._isDrawing = false;
    if (this._isStale) {
      this._isStale = false;
      this._requestLater();
    }
  }

  private async _draw(): Promise<void> {
    this._plotly ??= await loadPlotly();
    const { clientWidth: width, clientHeight: height } = this._host;
    if (this._isDisposed || !this._make || width === 0 || height === 0) {
      return;
    }
    this._theme ??= readChartTheme(this._host);
    const figure = this._make(this._theme, { width, height });
    await this._plotly.react(
      this._host,
      figure.traces,
      baseLayout(figure, this._theme, { width, height }),
      CONFIG
    );
    if (!this._isDrawn) {
      this._isDrawn = true;
      const { onClick } = this._options;
      if (onClick) {
        (this._host as IPlotElement).on('plotly_click', ({ points }) => {
          const [data] = points.map(point => point.customdata);
          if (typeof data === 'string' || typeof data === 'number') {
            onClick(data);
          }
        });
        this._host.addEventListener('pointerdown', () =>
          window.addEventListener('pointerup', this._forgetHover, {
            capture: true,
            once: true
          })
        );
      }
    }
    this._options.onDrawn?.();
  }

  /**
   * Has a click find the point that is under the pointer now. Plotly looks for it at
   * most every 50 ms, and forgets it if it draws or looks while a button is down: the
   * click would be lost. It hears of `pointerup` after this, as `mouseup`.
   */
  private _forgetHover = (): void => {
    if (!this._isDisposed) {
      this._plotly?.Fx.unhover(this._host);
    }
  };

  private _make: MakeFigure | null = null;
  private _plotly: IPlotly | null = null;
  private _theme: IChartTheme | null = null;
  private _sizes: ResizeObserver;
  private _stopThemes: () => void;
  private _frame = 0;
  private _timer = 0;
  private _restUntil = 0;
  private _isDrawing = false;
  private _isStale = false;
  private _hasAdapted = false;
  private _isDrawn = false;
  private _isDisposed = false;
}

/**
 * Resolves once what was drawn is painted: a task after the next frame begins then.
 */
function painted(): Promise<void> {
  return new Promise(resolve =>
    requestAnimationFrame(() => setTimeout(resolve))
  );
}

/**
 * The namespace for `Plot` statics.
 */
export namespace Plot {
  /**
   * The options of a plot, with its callbacks.
   */
  export interface IOptions {
    /**
     * Whether figures come from a measurement that runs: new ones are then drawn less
     * often where drawing is slow.
     */
    isLive?: boolean;

    /**
     * Called with the `customdata` of a point that is clicked.
     */
    onClick?: (data: string | number) => void;

    /**
     * Called after each drawing.
     */
    onDrawn?: () => void;

    /**
     * Takes why it could not be drawn.
     */
    onError?: (error: unknown) => void;
  }
}
