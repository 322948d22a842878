import type { ILane, IPlace, IWaterfall } from './lanes';
import type { ISpan } from './spans';
import type { IWindow } from './viewport';

/**
 * Heights in pixels.
 */
export const AXIS_HEIGHT = 22;
export const ROW_HEIGHT = 18;
const HEADER_HEIGHT = 20;
const GAP = 8;

/**
 * The distance in pixels within which the pointer still hits a sliver.
 */
const HIT_MARGIN = 3;

/**
 * A lane with its position in the chart; heights are measured from the top of
 * all lanes.
 */
export interface ILaneBox {
  readonly lane: number;
  readonly run: ILane['run'];

  /**
   * The top of its title.
   */
  readonly top: number;

  /**
   * The top of its first row.
   */
  readonly rows: number;
  readonly bottom: number;

  /**
   * The spans of each row, by start.
   */
  readonly byRow: readonly (readonly number[])[];
}

/**
 * All positions, from top to bottom.
 */
export interface ILayout {
  readonly boxes: readonly ILaneBox[];
  readonly height: number;
}

/**
 * Places the lanes of a waterfall one below the other.
 */
export function layOutLanes({ lanes }: IWaterfall): ILayout {
  let y = 0;
  const boxes = lanes.map(({ run, flame }, lane) => {
    const byRow: number[][] = Array.from({ length: flame.rows }, () => []);
    flame.spans.forEach(({ row }, index) => byRow[row].push(index));
    byRow.forEach(row =>
      row.sort((a, b) => flame.spans[a].start - flame.spans[b].start)
    );
    const top = y;
    const rows = top + HEADER_HEIGHT;
    const bottom = rows + flame.rows * ROW_HEIGHT;
    y = bottom + GAP;
    return { lane, run, top, rows, bottom, byRow };
  });
  return { boxes, height: y };
}

/**
 * The spans of a row that overlap a window: the index of the first, and the
 * index after the last.
 */
export function spansInWindow(
  row: readonly number[],
  spans: readonly ISpan[],
  { start, end }: IWindow
): [number, number] {
  const first = search(row, index => {
    const span = spans[index];
    return span.start + span.duration >= start;
  });
  const last = search(row, index => spans[index].start > end);
  return [first, last];
}

/**
 * The span under a point; null if there is none.
 *
 * @param at - The moment, in µs.
 * @param y - The distance from the top of all lanes, in pixels.
 * @param perPixel - The length of a pixel, in µs.
 */
export function spanAtPoint(
  { lanes }: IWaterfall,
  { boxes }: ILayout,
  at: number,
  y: number,
  perPixel: number
): IPlace | null {
  const box = boxes.find(laneBox => y >= laneBox.rows && y < laneBox.bottom);
  if (!box) {
    return null;
  }
  const { spans } = lanes[box.lane].flame;
  const row = box.byRow[Math.floor((y - box.rows) / ROW_HEIGHT)];
  const reach = HIT_MARGIN * perPixel;
  const [first, last] = spansInWindow(row, spans, {
    start: at - reach,
    end: at + reach
  });
  let best: number | null = null;
  let distance = Infinity;
  for (const index of row.slice(first, last)) {
    const { start, duration } = spans[index];
    const away = Math.max(start - at, at - start - duration, 0);
    if (away < distance) {
      best = index;
      distance = away;
    }
  }
  return best === null ? null : { lane: box.lane, span: best };
}

/** The first index for which a test holds, if it holds for all after it. */
function search(
  row: readonly number[],
  test: (index: number) => boolean
): number {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(row[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
