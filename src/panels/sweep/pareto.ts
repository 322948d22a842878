import type { TranslationBundle } from '@jupyterlab/translation';
import type { IChartTheme, ITrace, MakeFigure } from '../../charts';
import { asText, fade } from '../../charts';
import { formatMicroseconds, formatSeconds } from '../common';
import { formatInterval } from '../sidebar/format';
import { againstEager, nameOf } from './phrases';
import type { IRow } from './rows';

/**
 * From so many times the least on, an axis is logarithmic.
 */
const LOG_FROM = 6;

/**
 * Names beside points: no more than these, or they would hide them.
 */
const MOST_NAMES = 8;

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
      margin: { l: 60, r: 20, t: 12, b: 46 },
      xaxis: {
        title: trans.__('first call, s'),
        ...axisOf(
          points.map(({ x }) => x),
          Math.max(3, Math.floor(width / 110))
        )
      },
      yaxis: {
        title: trans.__('a call, %1', unit),
        ...axisOf(
          points.map(({ y }) => y),
          Math.max(3, Math.floor(height / 55))
        )
      },
      annotations: namesOf(points, shapes, width, theme)
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
      '%1 a call (%2)',
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
 * Names where there is room: those of the winners, and of the others in the
 * front while those are few.
 */
function namesOf(
  points: readonly IPoint[],
  shapes: readonly string[],
  width: number,
  theme: IChartTheme
): object[] {
  const front = points.filter(({ row }) => row.isFront || row.isWinner);
  const named =
    front.length <= MOST_NAMES && width >= 380
      ? front
      : front.filter(({ row }) => row.isWinner);
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const middle = middleOf(xs);
  return named.map(({ row, x, y }) => ({
    x: isLog(xs) ? Math.log10(x) : x,
    y: isLog(ys) ? Math.log10(y) : y,
    text: asText(
      shapes.length > 1 && row.isWinner ? nameOf(row.cell) : row.cell.name
    ),
    showarrow: false,
    xanchor: x > middle ? 'right' : 'left',
    yanchor: 'bottom',
    xshift: x > middle ? -4 : 4,
    yshift: 5,
    font: {
      color: row.isWinner ? theme.text : theme.muted,
      size: theme.fontSize
    },
    captureevents: false
  }));
}

function axisOf(values: readonly number[], nticks: number): object {
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (isLog(values)) {
    const margin = Math.max(0.06, 0.08 * Math.log10(high / low));
    return {
      type: 'log',
      range: [Math.log10(low) - margin, Math.log10(high) + margin * 1.6],
      // Plotly writes 10 and 2 one below the other unless told otherwise.
      tickvals: ticksOf(low, high),
      ticktext: ticksOf(low, high).map(String)
    };
  }
  const margin = high > low ? 0.12 * (high - low) : 0.3 * high;
  return {
    range: [Math.max(0, low - margin), high + 1.6 * margin],
    nticks
  };
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

function middleOf(values: readonly number[]): number {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return isLog(values) ? Math.sqrt(low * high) : (low + high) / 2;
}
