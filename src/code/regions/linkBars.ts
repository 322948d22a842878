/** Colors that the style sheet defines for linked lines. */
export const COLORS = 6;

/** Shapes of the bars; with the colors they distinguish 24 neighbors, without them 4. */
export const SHAPES = 4;

/**
 * The color and shape of a key's bar.
 */
export interface IBar {
  color: number;
  shape: number;
}

/**
 * The keys of one text: those of the main regions (launches), and all.
 */
export interface IKeys {
  main: readonly string[];
  all: readonly string[];
}

/**
 * Give every key that both texts have a bar.
 *
 * Launches get a color and a shape. Neighboring launches differ in color and in shape, so color
 * alone never tells them apart. The rest gets null: a plain bar.
 *
 * @param left The left text's keys, in the order of their lines.
 * @param right The right text's keys.
 */
export function assignBars(
  left: IKeys,
  right: IKeys
): Map<string, IBar | null> {
  const others = new Set(right.all);
  const bars = new Map<string, IBar | null>();
  let i = 0;
  for (const key of left.main) {
    if (others.has(key) && !bars.has(key)) {
      // The shape advances once more every 12 keys: else the 6 colors and 4 shapes repeat there.
      const shape = (i + Math.floor(i / 12)) % SHAPES;
      bars.set(key, { color: i % COLORS, shape });
      i++;
    }
  }
  for (const key of left.all) {
    if (others.has(key) && !bars.has(key)) {
      bars.set(key, null);
    }
  }
  return bars;
}
