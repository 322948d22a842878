import type { Compilation } from '../../../protocol/types';
import type { IFrame } from './frames';
import { inTime } from './frames';

/**
 * The position of a compilation in the timeline, in pixels.
 */
export interface IMark {
  readonly compilation: Compilation;
  readonly left: number;
  readonly width: number;

  /**
   * The space for its label, up to the next compilation of its frame.
   */
  readonly room: number;
}

/**
 * A timeline: the marks of each frame.
 */
export interface ITimeline {
  readonly width: number;
  readonly rows: readonly (readonly IMark[])[];
}

/**
 * The minimum width of a bar, so that it is visible; and of a mark, so that it
 * can be clicked, and its label read where there is space.
 */
const BAR = 5;
const MIN_WIDTH = 14;
const MAX_WIDTH = 120;
const GAP = 6;

/**
 * Lays compilations out one after the other, with bars as wide as their times.
 * The time between them is left out: a loop that runs for hours compiles for
 * seconds.
 *
 * @param width - The width to fill, in pixels. With more compilations than fit,
 * the timeline is wider.
 */
export function layOut(frames: readonly IFrame[], width: number): ITimeline {
  const inOrder = inTime(frames.flatMap(frame => frame.compilations));
  const total = inOrder.reduce(
    (sum, compilation) => sum + (compilation.duration_s ?? 0),
    0
  );
  // Half of the width shows the cost, the other half is for the labels.
  const scale = total > 0 ? width / 2 / total : 0;
  const fair = width / 2 / Math.max(1, inOrder.length) - GAP;
  const least = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, fair));
  const places = new Map<Compilation, { left: number; width: number }>();
  let left = 0;
  for (const compilation of inOrder) {
    const barWidth = Math.max(BAR, (compilation.duration_s ?? 0) * scale);
    places.set(compilation, { left, width: barWidth });
    left += Math.max(barWidth, least) + GAP;
  }
  const whole = Math.max(width, left);
  return {
    width: whole,
    rows: frames.map(({ compilations }) =>
      compilations.map((compilation, index) => {
        const place = places.get(compilation)!;
        const next = places.get(compilations[index + 1]);
        return {
          compilation,
          ...place,
          room: (next?.left ?? whole) - place.left - GAP
        };
      })
    )
  };
}
