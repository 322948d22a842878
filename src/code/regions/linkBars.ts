/** Colours that the style sheet defines for linked lines. */
export const COLOURS = 6;

/** Shapes of the bars; with the colours they distinguish 24 neighbours, without them 4. */
export const SHAPES = 4;

/**
 * How a key's bar looks.
 */
export interface IBar {
  colour: number;
  shape: number;
}

/**
 * The keys of one text: those that the eye should follow (launches), and all.
 */
export interface IKeys {
  main: readonly string[];
  all: readonly string[];
}

/**
 * Give every key that both texts have a bar.
 *
 * Launches get a colour and a shape, neighbours different ones in both, so that they are told
 * apart without colour too. The rest gets null: a plain bar.
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
      // The shape advances once more every 12 keys: else the 6 colours and 4 shapes repeat there.
      const shape = (i + Math.floor(i / 12)) % SHAPES;
      bars.set(key, { colour: i % COLOURS, shape });
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
