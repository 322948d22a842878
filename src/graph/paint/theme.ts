/**
 * The colors and fonts to paint with, as CSS texts.
 */
export interface ITheme {
  readonly background: string;

  /**
   * Of groups, in turn by depth.
   */
  readonly fills: readonly [string, string];
  readonly box: string;
  readonly border: string;
  readonly text: string;
  readonly muted: string;
  readonly edge: string;
  readonly brand: string;
  readonly hit: string;

  /**
   * The palette.
   */
  readonly colors: readonly string[];
  readonly font: string;
  readonly mono: string;

  /**
   * A mixture of two colors.
   *
   * @param share - Of the first, between 0 and 1.
   */
  readonly mix: (a: string, b: string, share: number) => string;
}

/**
 * The color of an open group.
 */
export function groupFill({ fills }: ITheme, depth: number): string {
  return fills[(depth + 1) % 2];
}

/**
 * Read the theme from an element's style.
 */
export function readTheme(element: HTMLElement): ITheme {
  const style = getComputedStyle(element);
  const read = (name: string, otherwise: string) =>
    style.getPropertyValue(name).trim() || otherwise;
  const background = read('--jp-layout-color1', '#ffffff');
  const mix = colorMixer();
  // Lines that lie on each other must not add up: nothing shows through.
  const solid = (name: string, otherwise: string, share = 1) => {
    const color = read(name, otherwise);
    return mix(color, background, share * alphaOf(color));
  };
  return {
    background,
    fills: [
      mix(read('--jp-layout-color2', '#f0f0f0'), background, 0.55),
      background
    ],
    box: read('--jp-layout-color0', background),
    border: solid('--jp-border-color1', '#bbbbbb'),
    text: solid('--jp-ui-font-color1', '#222222'),
    muted: solid('--jp-ui-font-color2', '#666666'),
    edge: solid('--jp-ui-font-color3', '#999999', 0.85),
    brand: read('--jp-brand-color1', '#1976d2'),
    hit: read('--jp-warn-color1', '#f57c00'),
    colors: [0, 1, 2, 3, 4, 5].map(i =>
      read(`--jp-compilescope-bar${i}`, '#777777')
    ),
    font: read('--jp-ui-font-family', 'sans-serif'),
    mono: read('--jp-code-font-family', 'monospace'),
    mix
  };
}

/**
 * Makes mixtures of colors; remembers them. What it cannot read it leaves as it
 * is.
 */
export function colorMixer(): ITheme['mix'] {
  const known = new Map<string, string>();
  return (a, b, share) => {
    const key = `${a}|${b}|${share}`;
    let mixture = known.get(key);
    if (mixture === undefined) {
      const [x, y] = [channels(a), channels(b)];
      mixture =
        x && y
          ? `rgb(${x.map((c, i) => Math.round(c * share + y[i] * (1 - share))).join(', ')})`
          : a;
      known.set(key, mixture);
    }
    return mixture;
  };
}

/**
 * How much of a color does not let through what is behind it.
 */
function alphaOf(color: string): number {
  const parts = /^rgba\(([^)]*)\)$/.exec(color)?.[1].match(/[\d.]+/g);
  return parts?.length === 4 ? Number(parts[3]) : 1;
}

/**
 * Red, green and blue of a color; null if it is written otherwise than in
 * figures.
 */
export function channels(color: string): [number, number, number] | null {
  const hex = /^#([0-9a-f]{3,8})$/i.exec(color)?.[1];
  if (hex) {
    const size = hex.length < 6 ? 1 : 2;
    const parts = [0, 1, 2].map(i => hex.slice(i * size, (i + 1) * size));
    const [r, g, b] = parts.map(p => parseInt(size === 1 ? p + p : p, 16));
    return [r, g, b];
  }
  const numbers = /^rgba?\(([^)]*)\)$/.exec(color)?.[1].match(/[\d.]+/g);
  if (numbers && numbers.length >= 3) {
    const [r, g, b] = numbers.map(Number);
    return [r, g, b];
  }
  return (
    ({ white: [255, 255, 255], black: [0, 0, 0] }[color] as
      [number, number, number] | undefined) ?? null
  );
}
