/**
 * A trace in Plotly's format. The bundle that is used supports `scatter`, `bar`
 * and `pie`.
 */
export interface ITrace {
  readonly type: 'scatter' | 'bar';
  readonly x: readonly (number | string | null)[];
  readonly y: readonly (number | string | null)[];

  /**
   * For each point: the value that a click on it reports.
   */
  readonly customdata?: readonly (string | number)[];

  /**
   * Other attributes of Plotly. Names go through `asText` first.
   */
  readonly [option: string]: unknown;
}

/**
 * A plot: what is drawn, and on which axes. The layout is completed by
 * `baseLayout`, and so is each axis.
 */
export interface IFigure {
  readonly traces: readonly ITrace[];
  readonly layout?: Readonly<Record<string, unknown>>;
}

/**
 * The part of Plotly that is used.
 */
export interface IPlotly {
  /**
   * Draws, or draws what has changed since the last time.
   */
  react(
    host: HTMLElement,
    traces: readonly unknown[],
    layout: object,
    config: object
  ): Promise<unknown>;

  /**
   * Removes everything from the element.
   */
  purge(host: HTMLElement): void;

  readonly Fx: {
    /**
     * Forgets which point is under the pointer, and when Plotly last looked.
     */
    unhover(host: HTMLElement): void;
  };
}

/**
 * An element that contains a plot.
 */
export interface IPlotElement extends HTMLElement {
  on(
    event: 'plotly_click',
    handler: (event: {
      points: readonly { readonly customdata?: unknown }[];
    }) => void
  ): void;
}

/**
 * Get Plotly. It is large: loaded once, when the first plot is drawn, or with the
 * next one if that failed.
 */
export function loadPlotly(): Promise<IPlotly> {
  loading ??= load().catch(error => {
    loading = null;
    throw error;
  });
  return loading;
}

/**
 * A text that Plotly shows as it is, instead of as markup.
 */
export function asText(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;');
}

let loading: Promise<IPlotly> | null = null;

async function load(): Promise<IPlotly> {
  const page = window as unknown as { Plotly?: unknown };
  const isThere = 'Plotly' in page;
  const before = page.Plotly;
  const { default: plotly } = await import('plotly.js-basic-dist-min');
  // It puts itself there too. A notebook's own Plotly is larger, and stays.
  if (isThere) {
    page.Plotly = before;
  } else {
    delete page.Plotly;
  }
  return plotly as IPlotly;
}
