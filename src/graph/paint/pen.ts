/**
 * How a line is drawn.
 */
export interface IStroke {
  readonly color: string;
  readonly width: number;
  readonly dash?: readonly number[];
  readonly alpha?: number;
}

/**
 * How a text is set.
 */
export interface ITextStyle {
  readonly color: string;
  readonly size: number;
  readonly family: string;
  readonly weight?: number;
  readonly anchor?: 'start' | 'middle' | 'end';

  /**
   * The color around the letters, which keeps them readable on lines.
   */
  readonly halo?: string;
}

/**
 * How wide the halo of a text is, to each side of a letter.
 */
export const HALO = 2;

/**
 * What the graph is painted with: a canvas, or an SVG file. Places and sizes are
 * those of the layout.
 */
export interface IPen {
  rect(
    x: number,
    y: number,
    width: number,
    height: number,
    radius: number,
    fill: string | null,
    stroke?: IStroke
  ): void;

  /**
   * Curves through points, each begun and ended upright.
   *
   * @param ranges - Pairs: where a curve's points begin and end in `points`.
   */
  curves(
    points: ArrayLike<number>,
    ranges: readonly number[],
    stroke: IStroke
  ): void;

  /**
   * A triangle that points down, its tip at a place.
   */
  heads(tips: readonly number[], size: number, fill: string): void;

  text(text: string, x: number, y: number, style: ITextStyle): void;
}
