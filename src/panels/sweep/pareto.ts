import type { TranslationBundle } from '@jupyterlab/translation';
import type { IChartTheme, ITrace, MakeFigure } from '../../charts';
import { asText, fade } from '../../charts';
import { formatMicroseconds, formatSeconds } from '../../words/format';
import { formatInterval } from '../../words/format';
import { againstEager, nameOf } from './phrases';
import type { IRow } from './rows';
import { shorten } from '../../words/format';

/**
 * From so many times the least on, an axis is logarithmic.
 */
const LOG_FROM = 6;

/**
 * Around the plot, and how wide a letter is, in pixels.
 */
const MARGIN = { l: 60, r: 20, t: 14, b: 46 };
const LETTER = 6.8;

/**
 * A row that has a place in the plot.
 */
interface IPoint {
  readonly row: IRow;

  /**
   * Compile time in seconds; eager's is 0.
   */
  readonly x: number;

  /**
   * Latency in the axis' unit.
   */
  readonly y: number;
}

/**
 * Whether there is anything to plot.
 */
export function isPlotted({ cell, latency }: IRow): boolean {
  return cell.state === 'done' && latency !== null;
}

/**
 * Compile time against latency, the cells that no other beats joined by a line.
 *
 * @param chosen - The id of the row that is selected.
 */
export function paretoOf(
  rows: readonly IRow[],
  chosen: string | null,
  trans: TranslationBundle
): MakeFigure {
  const plotted = rows.filter(isPlotted);
  const slowest = Math.max(...plotted.map(each => each.latency!));
  const [unit, factor] =
    slowest < 1e3 ? ['µs', 1] : slowest < 1e6 ? ['ms', 1e3] : ['s', 1e6];
  const points = plotted.map(row => ({
    row,
    x: row.compile ?? 0,
    y: row.latency! / (factor as number)
  }));
  const shapes = [...new Set(points.map(({ row }) => row.cell.shape))];
  return (theme, { width, height }) => ({
    traces: [
      ...shapes.map((shape, place) =>
        frontOf(
          points.filter(({ row }) => row.cell.shape === shape),
          colourOf(place, theme)
        )
      ),
      ...shapes.flatMap((shape, place) =>
        pointsOf(
          points.filter(({ row }) => row.cell.shape === shape),
          colourOf(place, theme),
          chosen,
          theme,
          trans
        )
      )
    ],
    layout: {
      margin: MARGIN,
      xaxis: {
        title: trans.__('first call, s'),
        ...axisOf(
          points.map(({ x }) => x),
          Math.max(3, Math.floor(width / 110))
        )
      },
      yaxis: {
        title: trans.__('latency, %1', unit),
        ...axisOf(
          points.map(({ y }) => y),
          Math.max(3, Math.floor(height / 55))
        )
      },
      annotations: namesOf(points, shapes, { width, height }, theme)
    }
  });
}

/**
 * The colour of a shape's points.
 */
function colourOf(place: number, { series }: IChartTheme): string {
  return series[place % series.length];
}

function frontOf(points: readonly IPoint[], colour: string): ITrace {
  const front = points
    .filter(({ row }) => row.isFront)
    .sort((a, b) => a.x - b.x);
  return {
    type: 'scatter',
    mode: 'lines',
    x: front.map(({ x }) => x),
    y: front.map(({ y }) => y),
    // What is as good as a step says: in between there is nothing to be had.
    line: { color: fade(colour, 0.55), width: 2, shape: 'hv' },
    hoverinfo: 'skip'
  };
}

function pointsOf(
  points: readonly IPoint[],
  colour: string,
  chosen: string | null,
  theme: IChartTheme,
  trans: TranslationBundle
): ITrace[] {
  const isRight = ({ row }: IPoint) => row.cell.accurate !== false;
  return [
    {
      type: 'scatter',
      mode: 'markers',
      x: points.map(({ x }) => x),
      y: points.map(({ y }) => y),
      customdata: points.map(({ row }) => row.id),
      text: points.map(({ row }) => hoverOf(row, trans)),
      hoverinfo: 'text',
      marker: {
        symbol: points.map(each =>
          !isRight(each)
            ? 'x'
            : each.row.isWinner
              ? 'star'
              : each.row.isFront
                ? 'circle'
                : 'circle-open'
        ),
        size: points.map(each => (each.row.isWinner ? 15 : 10)),
        color: points.map(each => (isRight(each) ? colour : theme.bad)),
        opacity: 1,
        line: {
          color: points.map(each =>
            each.row.id === chosen
              ? theme.text
              : isRight(each)
                ? colour
                : theme.bad
          ),
          width: points.map(({ row }) => (row.id === chosen ? 2.5 : 1.5))
        }
      }
    }
  ];
}

function hoverOf(row: IRow, trans: TranslationBundle): string {
  const { cell, latency, compile } = row;
  const interval = cell.timing!.interval_us;
  return [
    `<b>${asText(nameOf(cell))}</b>`,
    trans.__(
      'latency %1 (%2)',
      formatMicroseconds(latency!),
      formatInterval(interval)
    ),
    againstEager(cell, trans),
    compile === null
      ? trans.__('nothing to compile')
      : trans.__('first call %1', formatSeconds(compile)),
    cell.accurate === false ? trans.__('its results differ from eager’s') : ''
  ]
    .filter(Boolean)
    .join('<br>');
}

/**
 * Names of the best trades, the winners' first; what would lie on another is
 * left out, and is told by who hovers.
 */
function namesOf(
  points: readonly IPoint[],
  shapes: readonly string[],
  size: { readonly width: number; readonly height: number },
  theme: IChartTheme
): object[] {
  const x = placesOf(
    points.map(each => each.x),
    size.width - MARGIN.l - MARGIN.r
  );
  const y = placesOf(
    points.map(each => each.y),
    size.height - MARGIN.t - MARGIN.b
  );
  const taken: IBox[] = points.map(each => around(x(each.x), y(each.y), 12, 8));
  const front = points
    .filter(({ row }) => row.isFront || row.isWinner)
    .sort((a, b) => Number(b.row.isWinner) - Number(a.row.isWinner));
  return front.flatMap(point => {
    const { row } = point;
    const isLeft = x(point.x) < (size.width - MARGIN.l - MARGIN.r) / 2;
    // Which variant won stands beside the plot; which line is whose does not.
    const isTitle = shapes.length > 1 && row.isWinner;
    const text = shorten(isTitle ? row.cell.shape : row.cell.name, 28);
    const wide = text.length * LETTER;
    const middle = x(point.x) + (isLeft ? wide / 2 + 4 : -wide / 2 - 4);
    // Above the point, or else below it.
    const side = [1, -1].find(sign => {
      const box = around(middle, y(point.y) + sign * 15, wide / 2 + 4, 7);
      return (
        middle - wide / 2 > -MARGIN.l / 2 &&
        taken.every(other => !overlap(box, other))
      );
    });
    if (side === undefined) {
      return [];
    }
    taken.push(around(middle, y(point.y) + side * 15, wide / 2, 7));
    return [
      {
        x: isLog(points.map(each => each.x)) ? Math.log10(point.x) : point.x,
        y: isLog(points.map(each => each.y)) ? Math.log10(point.y) : point.y,
        text: asText(text),
        showarrow: false,
        xanchor: isLeft ? 'left' : 'right',
        yanchor: 'middle',
        xshift: isLeft ? 4 : -4,
        yshift: side * 15,
        font: { color: row.isWinner ? theme.text : theme.muted }
      }
    ];
  });
}

/**
 * A box in pixels, from the left and from below.
 */
interface IBox {
  readonly left: number;
  readonly right: number;
  readonly low: number;
  readonly high: number;
}

function around(x: number, y: number, wide: number, high: number): IBox {
  return { left: x - wide, right: x + wide, low: y - high, high: y + high };
}

function overlap(a: IBox, b: IBox): boolean {
  return (
    a.left < b.right && b.left < a.right && a.low < b.high && b.low < a.high
  );
}

/**
 * Where values stand on an axis so long.
 */
function placesOf(
  values: readonly number[],
  length: number
): (value: number) => number {
  const [low, high] = rangeOf(values);
  const scale = isLog(values) ? Math.log10 : (value: number) => value;
  return value => ((scale(value) - low) / (high - low)) * length;
}

/**
 * What an axis shows; the logarithms of it where it is logarithmic.
 */
function rangeOf(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (isLog(values)) {
    const margin = Math.max(0.06, 0.08 * Math.log10(high / low));
    return [Math.log10(low) - margin, Math.log10(high) + margin * 1.6];
  }
  const margin = high > low ? 0.12 * (high - low) : 0.3 * high;
  return [Math.max(0, low - margin), high + 1.6 * margin];
}

function axisOf(values: readonly number[], nticks: number): object {
  const range = rangeOf(values);
  if (!isLog(values)) {
    return { range, nticks };
  }
  // Plotly writes 10 and 2 one below the other unless told otherwise.
  const tickvals = ticksOf(Math.min(...values), Math.max(...values));
  return { type: 'log', range, tickvals, ticktext: tickvals.map(String) };
}
/**
 * 1, 2 and 5 times the powers of ten around.
 */
function ticksOf(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const steps = last - first > 3 ? [1] : [1, 2, 5];
  return powers.flatMap(power =>
    steps.map(step => Number((step * 10 ** power).toPrecision(1)))
  );
}

function isLog(values: readonly number[]): boolean {
  const low = Math.min(...values);
  return low > 0 && Math.max(...values) / low > LOG_FROM;
}
