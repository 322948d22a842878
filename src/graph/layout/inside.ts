/**
 * The inside of an open group, laid out; from the group's upper left corner.
 */
export interface IInside {
  readonly items: number[];
  readonly x: number[];
  readonly y: number[];
  readonly width: number;
  readonly height: number;

  /**
   * Where a value comes from, as an item → where it crosses the upper border.
   */
  readonly ins: Map<number, number>;

  /**
   * The same for the lower border.
   */
  readonly outs: Map<number, number>;
  readonly edges: {
    readonly from: number;
    readonly to: number;
    readonly source: number;
    readonly count: number;
    readonly points: number[] | null;
  }[];
}
