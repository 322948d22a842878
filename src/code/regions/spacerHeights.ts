/**
 * The heights (in pixels, without any spacers) at which an anchor's lines begin.
 */
export interface IAnchorTops {
  left: number;
  right: number;
}

/**
 * The spacers that bring every anchor to one height.
 *
 * @param tops Where each anchor's lines begin, in pixels, by rising line, without spacers.
 * @param slack Differences below this many pixels are left alone; they do not add up.
 * @returns For each anchor, the height of the spacer above its line on either side; of the two at
 * most one is above zero.
 */
export function spacerHeights(
  tops: readonly IAnchorTops[],
  slack = 0.75
): IAnchorTops[] {
  let left = 0;
  let right = 0;
  return tops.map(top => {
    const difference = top.left + left - (top.right + right);
    const spacer = { left: 0, right: 0 };
    if (difference > slack) {
      spacer.right = difference;
    } else if (difference < -slack) {
      spacer.left = -difference;
    }
    left += spacer.left;
    right += spacer.right;
    return spacer;
  });
}
