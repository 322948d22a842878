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
 * After a drawing a new figure waits for so many times as long as it took, painting
 * included: figures of a measurement come twice a second, and its calls need the
 * processor.
 */
const REST = 7;

/**
 * In milliseconds. A page that was hidden meanwhile would wait for hours.
 */
const LONGEST_REST = 2000;

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
    this._sizes = new ResizeObserver(() => this._request());
    this._sizes.observe(_host);
    this._stopThemes = onThemeChange(() => {
      this._theme = null;
      this._request();
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

  private _requestLater(): void {
    clearTimeout(this._timer);
    const rest = this._restUntil - performance.now();
    if (rest > 0) {
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
      void this._drawAndRest();
    });
  }

  private async _drawAndRest(): Promise<void> {
    this._isDrawing = true;
    const start = performance.now();
    try {
      await this._draw();
    } catch (error) {
      this._options.onError?.(error);
    }
    await painted();
    const end = performance.now();
    this._restUntil = end + Math.min(LONGEST_REST, REST * (end - start));
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
      }
    }
    this._options.onDrawn?.();
  }

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
   * Whom to tell.
   */
  export interface IOptions {
    /**
     * Told the `customdata` of a point that is clicked.
     */
    onClick?: (data: string | number) => void;

    /**
     * Told each time it was drawn.
     */
    onDrawn?: () => void;

    /**
     * Takes why it could not be drawn.
     */
    onError?: (error: unknown) => void;
  }
}
