import type { IPlace, IWaterfall } from './lanes';
import type { ILaneBox, ILayout } from './layout';
import { AXIS_HEIGHT, spansInWindow, ROW_HEIGHT } from './layout';
import type { IWindow } from './viewport';
import { tickLabel, ticks } from './viewport';

/**
 * The minimum width of a drawn bar, in pixels.
 */
const MIN_BAR = 1;

/**
 * The minimum width for a kernel's step, which is short and isolated and has
 * the color of its edge.
 */
const MIN_STEP = 2;

/**
 * Narrower bars have no text and no edge.
 */
const LABEL_FROM = 26;
const EDGE_FROM = 4;
const PIXELS_PER_TICK = 90;

/**
 * The colors and fonts of the chart, all from the theme.
 */
export interface IPaint {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly background: string;
  readonly accent: string;
  readonly font: string;

  /**
   * A kind's fill and edge.
   */
  readonly fill: (kind: string) => string;
  readonly edge: (kind: string) => string;
}

/**
 * The content of the chart.
 */
export interface IScene {
  readonly chart: IWaterfall;
  readonly layout: ILayout;
  readonly window: IWindow;

  /**
   * The canvas, in CSS pixels.
   */
  readonly width: number;
  readonly height: number;

  /**
   * The vertical scroll position of the lanes, in pixels.
   */
  readonly scroll: number;
  readonly selected: IPlace | null;
  readonly hovered: IPlace | null;

  /**
   * The title of a lane.
   */
  readonly title: (lane: number) => string;
}

/**
 * Paints the visible part of a waterfall.
 */
export function paint(
  context: CanvasRenderingContext2D,
  scene: IScene,
  colors: IPaint
): void {
  const { width, height, layout, scroll } = scene;
  context.clearRect(0, 0, width, height);
  context.font = colors.font;
  context.textBaseline = 'middle';
  paintGrid(context, scene, colors);
  context.save();
  context.beginPath();
  context.rect(0, AXIS_HEIGHT, width, height - AXIS_HEIGHT);
  context.clip();
  context.translate(0, AXIS_HEIGHT - scroll);
  for (const box of layout.boxes) {
    if (box.bottom >= scroll && box.top <= scroll + height) {
      paintLane(context, scene, box, colors);
    }
  }
  context.restore();
}

function paintGrid(
  context: CanvasRenderingContext2D,
  { window, width, height }: IScene,
  colors: IPaint
): void {
  const scale = width / (window.end - window.start);
  const { at, step } = ticks(window, width / PIXELS_PER_TICK);
  context.fillStyle = colors.line;
  context.fillRect(0, AXIS_HEIGHT - 1, width, 1);
  for (const moment of at) {
    const x = Math.round((moment - window.start) * scale);
    context.fillStyle = colors.line;
    context.fillRect(x, 0, 1, height);
    context.fillStyle = colors.muted;
    context.textAlign = 'left';
    const label = tickLabel(moment, step);
    if (x + 4 + context.measureText(label).width <= width) {
      context.fillText(label, x + 4, AXIS_HEIGHT / 2);
    }
  }
}

function paintLane(
  context: CanvasRenderingContext2D,
  scene: IScene,
  box: ILaneBox,
  colors: IPaint
): void {
  const { window, width, scroll, height } = scene;
  const { of, flame } = scene.chart.lanes[box.lane];
  const { spans } = flame;
  const thinnest = of === 'kernels' ? MIN_STEP : MIN_BAR;
  const scale = width / (window.end - window.start);
  const title = fit(context, scene.title(box.lane), width - 4);
  const titleWidth = context.measureText(title).width;
  context.fillStyle = colors.background;
  context.fillRect(0, box.top, titleWidth + 8, box.rows - box.top);
  context.fillStyle = colors.text;
  context.textAlign = 'left';
  context.fillText(title, 2, (box.top + box.rows) / 2);
  box.byRow.forEach((row, number) => {
    const y = box.rows + number * ROW_HEIGHT;
    if (y + ROW_HEIGHT < scroll || y > scroll + height) {
      return;
    }
    const [first, last] = spansInWindow(row, spans, window);
    let painted = -Infinity;
    for (let place = first; place < last; place++) {
      const span = spans[row[place]];
      const left = (span.start - window.start) * scale;
      const right = (span.start + span.duration - window.start) * scale;
      // Of several bars within one pixel, the first is enough.
      if (right < painted + thinnest / 2) {
        continue;
      }
      const x = Math.max(left, -2);
      const long = Math.max(Math.min(right, width + 2) - x, thinnest);
      painted = x + long;
      const isSliver = of === 'kernels' && long < EDGE_FROM;
      context.fillStyle = isSliver
        ? colors.edge(span.kind)
        : colors.fill(span.kind);
      context.fillRect(x, y, long, ROW_HEIGHT - 1);
      if (long >= EDGE_FROM) {
        context.fillStyle = colors.edge(span.kind);
        context.fillRect(x, y, 2, ROW_HEIGHT - 1);
      }
      if (long >= LABEL_FROM) {
        const from = Math.max(x, 0) + 5;
        paintLabel(context, label(span), from, y, x + long - from - 3, colors);
      }
    }
  });
  outline(context, scene, box, scene.hovered, colors.muted, 1);
  outline(context, scene, box, scene.selected, colors.accent, 2);
}

function label(span: { name: string; detail: string }): string {
  return span.detail ? `${span.name} · ${span.detail}` : span.name;
}

function paintLabel(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  room: number,
  colors: IPaint
): void {
  const short = fit(context, text, room);
  if (short) {
    context.fillStyle = colors.text;
    context.textAlign = 'left';
    context.fillText(short, x, y + ROW_HEIGHT / 2);
  }
}

/** The part of a text that fits, with an ellipsis if it is cut. */
function fit(
  context: CanvasRenderingContext2D,
  text: string,
  room: number
): string {
  const whole = context.measureText(text).width;
  if (whole <= room) {
    return text;
  }
  for (
    let count = Math.floor((text.length * room) / whole);
    count > 1;
    count--
  ) {
    const short = `${text.slice(0, count).trimEnd()}…`;
    if (context.measureText(short).width <= room) {
      return short;
    }
  }
  return '';
}

function outline(
  context: CanvasRenderingContext2D,
  { chart, window, width }: IScene,
  box: ILaneBox,
  place: IPlace | null,
  color: string,
  thick: number
): void {
  const span =
    place?.lane === box.lane && chart.lanes[box.lane].flame.spans[place.span];
  if (!span) {
    return;
  }
  const scale = width / (window.end - window.start);
  const left = Math.max((span.start - window.start) * scale, -4);
  const right = Math.min(
    (span.start + span.duration - window.start) * scale,
    width + 4
  );
  const y = box.rows + span.row * ROW_HEIGHT;
  context.strokeStyle = color;
  context.lineWidth = thick;
  context.strokeRect(
    left + thick / 2,
    y + thick / 2,
    Math.max(right - left, 3) - thick,
    ROW_HEIGHT - 1 - thick
  );
}
