/**
 * The colors and the font of plots, in Plotly's format.
 */
export interface IChartTheme {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly background: string;
  readonly accent: string;
  readonly good: string;
  readonly bad: string;

  /**
   * The colors of series, in order.
   */
  readonly series: readonly string[];
  readonly font: string;

  /**
   * In pixels.
   */
  readonly fontSize: number;

  /**
   * The color of any custom property of the chart's element.
   */
  readonly read: (property: string) => string;
}

/**
 * How many colors `style/common/charts.css` has for series.
 */
const SERIES = 7;

/**
 * Read the theme where a chart stands.
 *
 * @param host - An element with the class `jp-Compilescope-chart`, in the page.
 */
export function readChartTheme(host: HTMLElement): IChartTheme {
  const probe = host.appendChild(document.createElement('span'));
  probe.hidden = true;
  const read = (property: string) => {
    probe.style.color = `var(${property})`;
    return asRgb(getComputedStyle(probe).color);
  };
  const style = getComputedStyle(host);
  const known = new Map<string, string>();
  const theme: IChartTheme = {
    text: read('--cs-chart-text'),
    muted: read('--cs-chart-muted'),
    line: read('--cs-chart-line'),
    background: read('--cs-chart-background'),
    accent: read('--cs-chart-accent'),
    good: read('--cs-chart-good'),
    bad: read('--cs-chart-bad'),
    series: Array.from({ length: SERIES }, (_, index) =>
      read(`--cs-chart-series${index}`)
    ),
    font: style.fontFamily,
    fontSize: parseFloat(style.fontSize) || 12,
    read: property => {
      let color = known.get(property);
      if (color === undefined) {
        host.appendChild(probe);
        color = read(property);
        probe.remove();
        known.set(property, color);
      }
      return color;
    }
  };
  probe.remove();
  return theme;
}

/**
 * A color with an opacity.
 *
 * @param opacity - Between 0 and 1.
 */
export function withOpacity(color: string, opacity: number): string {
  const [r, g, b] = channelsOf(color);
  return `rgba(${r}, ${g}, ${b}, ${opacity})`;
}

/**
 * Call a function whenever the theme of JupyterLab or of a standalone page
 * changes.
 *
 * @returns A function that ends this.
 */
export function onThemeChange(callback: () => void): () => void {
  const observer = new MutationObserver(callback);
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light']
  });
  observer.observe(document.documentElement, {
    attributes: true,
    attributeFilter: ['data-theme']
  });
  return () => observer.disconnect();
}

/**
 * A computed color as Plotly reads it: a mixture is computed to
 * `color(srgb 0.1 0.2 0.3)`, which it does not know.
 */
function asRgb(computed: string): string {
  const numbers = /^color\(srgb ([^)]*)\)$/.exec(computed)?.[1];
  if (numbers === undefined) {
    return computed || 'rgb(128, 128, 128)';
  }
  const [r, g, b, alpha = 1] = numbers
    .split(/[\s/]+/)
    .filter(Boolean)
    .map(Number);
  const whole = [r, g, b].map(part => Math.round(part * 255));
  return `rgba(${whole.join(', ')}, ${alpha})`;
}

function channelsOf(color: string): [number, number, number] {
  const [r = 128, g = 128, b = 128] = (color.match(/[\d.]+/g) ?? []).map(
    Number
  );
  return [r, g, b];
}
