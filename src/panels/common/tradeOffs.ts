import type { TranslationBundle } from '@jupyterlab/translation';
import type { IChartTheme, ITrace, MakeFigure } from '../../charts';
import { asText, withOpacity } from '../../charts';
import { shorten } from '../../words/format';

/**
 * If the largest value is at least this many times the smallest, an axis is
 * logarithmic.
 */
const LOG_FROM = 6;

/**
 * The margins of the plot, and the width of a letter, in pixels.
 */
const MARGIN = { l: 60, r: 20, t: 14, b: 46 };
const LETTER = 6.8;

/**
 * A measured item, as a point of the plot.
 */
export interface ITradeOff {
  readonly id: string;
  readonly name: string;

  /**
   * The points of a series share a color and a line.
   */
  readonly series: string;

  /**
   * The first call in seconds; 0 if nothing is compiled.
   */
  readonly firstCall: number;

  /**
   * In µs, or as a fraction of eager's latency.
   */
  readonly latency: number;

  /**
   * Whether it is Pareto-optimal in its series.
   */
  readonly isFront: boolean;
  readonly isBest: boolean;

  /**
   * Whether its results agree with eager's.
   */
  readonly isRight: boolean;

  /**
   * The text of its tooltip, in Plotly's markup.
   */
  readonly hover: string;
}

/**
 * With its position, in the units of the axes.
 */
interface IPoint extends ITradeOff {
  readonly x: number;
  readonly y: number;
}

/**
 * First call against latency, with a line through the Pareto-optimal points.
 *
 * @param chosen - The id of the selected point.
 * @param isRelative - Whether latencies are fractions of eager's, not in µs.
 */
export function firstCallAgainstLatency(
  tradeOffs: readonly ITradeOff[],
  chosen: string | null,
  trans: TranslationBundle,
  isRelative = false
): MakeFigure {
  const slowest = Math.max(...tradeOffs.map(tradeOff => tradeOff.latency));
  const [unit, factor] =
    isRelative || slowest < 1e3
      ? ['µs', 1]
      : slowest < 1e6
        ? ['ms', 1e3]
        : ['s', 1e6];
  const points = tradeOffs.map(tradeOff => ({
    ...tradeOff,
    x: tradeOff.firstCall,
    y: tradeOff.latency / (factor as number)
  }));
  const allSeries = [...new Set(points.map(({ series }) => series))];
  return (theme, { width, height }) => ({
    traces: [
      ...allSeries.map((name, place) =>
        lineOf(frontOf(points, name), colorOf(place, theme))
      ),
      ...allSeries.flatMap((name, place) =>
        pointsOf(
          points.filter(({ series }) => series === name),
          colorOf(place, theme),
          chosen,
          theme
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
        title: isRelative
          ? trans.__('latency, eager = 1')
          : trans.__('latency, %1', unit),
        ...axisOf(
          points.map(({ y }) => y),
          Math.max(3, Math.floor(height / 55))
        )
      },
      annotations: namesOf(points, allSeries, { width, height }, theme)
    }
  });
}

/**
 * The color of a series' points.
 */
function colorOf(place: number, { series }: IChartTheme): string {
  return series[place % series.length];
}

/**
 * The points of a series that its line connects, from left to right.
 */
function frontOf(points: readonly IPoint[], series: string): IPoint[] {
  return points
    .filter(point => point.series === series && point.isFront)
    .sort((a, b) => a.x - b.x);
}

function lineOf(front: readonly IPoint[], color: string): ITrace {
  return {
    type: 'scatter',
    mode: 'lines',
    x: front.map(({ x }) => x),
    y: front.map(({ y }) => y),
    // A step shows the best that is available: nothing lies in between. Names avoid
    // the steps: see `stepsOf`.
    line: { color: withOpacity(color, 0.55), width: 2, shape: 'hv' },
    hoverinfo: 'skip'
  };
}

function pointsOf(
  points: readonly IPoint[],
  color: string,
  chosen: string | null,
  theme: IChartTheme
): ITrace[] {
  return [
    {
      type: 'scatter',
      mode: 'markers',
      x: points.map(({ x }) => x),
      y: points.map(({ y }) => y),
      customdata: points.map(({ id }) => id),
      text: points.map(({ hover }) => hover),
      hoverinfo: 'text',
      marker: {
        symbol: points.map(point =>
          !point.isRight
            ? 'x'
            : point.isBest
              ? 'star'
              : point.isFront
                ? 'circle'
                : 'circle-open'
        ),
        size: points.map(point => (point.isBest ? 15 : 10)),
        color: points.map(point => (point.isRight ? color : theme.bad)),
        opacity: 1,
        line: {
          color: points.map(point =>
            point.id === chosen ? theme.text : point.isRight ? color : theme.bad
          ),
          width: points.map(({ id }) => (id === chosen ? 2.5 : 1.5))
        }
      }
    }
  ];
}

/**
 * The maximum number of points in a series whose names all fit.
 */
const MAX_NAMED = 16;

/**
 * The names of the points, best first; with many points, or several series,
 * only of the best. A name that would overlap another one, a point or a line is
 * omitted; its tooltip shows it.
 */
function namesOf(
  points: readonly IPoint[],
  allSeries: readonly string[],
  size: { readonly width: number; readonly height: number },
  theme: IChartTheme
): object[] {
  const x = placesOf(
    points.map(point => point.x),
    size.width - MARGIN.l - MARGIN.r
  );
  const y = placesOf(
    points.map(point => point.y),
    size.height - MARGIN.t - MARGIN.b
  );
  const taken: IBox[] = points.map(point =>
    boxAround(x(point.x), y(point.y), 12, 8)
  );
  const steps = allSeries.flatMap(series =>
    stepsOf(
      frontOf(points, series).map(point => [x(point.x), y(point.y)] as const)
    )
  );
  const isRoomy = allSeries.length === 1 && points.length <= MAX_NAMED;
  const named = points
    .filter(({ isFront, isBest }) => isFront || isBest || isRoomy)
    .sort((a, b) => rankOf(b) - rankOf(a));
  return named.flatMap(point => {
    // The best point is named next to the plot; the series of a line is not.
    const isTitle = allSeries.length > 1 && point.isBest;
    const text = shorten(isTitle ? point.series : point.name, 28);
    const wide = text.length * LETTER;
    const plot = size.width - MARGIN.l - MARGIN.r;
    const isLeft = x(point.x) < plot / 2;
    // Above the point, or else below it; toward the middle, or else away from it.
    const place = [isLeft, !isLeft]
      .flatMap(isToRight => [1, -1].map(side => ({ isToRight, side })))
      .map(({ isToRight, side }) => ({
        isToRight,
        side,
        middle: x(point.x) + (isToRight ? wide / 2 + 4 : -wide / 2 - 4)
      }))
      .find(({ middle, side }) => {
        const height = y(point.y) + side * 15;
        const box = boxAround(middle, height, wide / 2, 7);
        const apart = boxAround(middle, height, wide / 2 + 4, 7);
        return (
          box.left > -MARGIN.l / 2 &&
          box.right < plot + MARGIN.r &&
          taken.every(other => !overlap(apart, other)) &&
          steps.every(step => !overlap(box, step))
        );
      });
    if (place === undefined) {
      return [];
    }
    const { isToRight, middle, side } = place;
    taken.push(boxAround(middle, y(point.y) + side * 15, wide / 2, 7));
    return [
      {
        x: isLog(points.map(({ x }) => x)) ? Math.log10(point.x) : point.x,
        y: isLog(points.map(({ y }) => y)) ? Math.log10(point.y) : point.y,
        text: asText(text),
        showarrow: false,
        xanchor: isToRight ? 'left' : 'right',
        yanchor: 'middle',
        xshift: isToRight ? 4 : -4,
        yshift: side * 15,
        font: { color: point.isBest ? theme.text : theme.muted }
      }
    ];
  });
}

function rankOf({ isFront, isBest }: ITradeOff): number {
  return Number(isFront) + 2 * Number(isBest);
}

/**
 * A box in pixels, measured from the left and from the bottom.
 */
interface IBox {
  readonly left: number;
  readonly right: number;
  readonly low: number;
  readonly high: number;
}

function boxAround(x: number, y: number, wide: number, high: number): IBox {
  return { left: x - wide, right: x + wide, low: y - high, high: y + high };
}

function overlap(a: IBox, b: IBox): boolean {
  return (
    a.left < b.right && b.left < a.right && a.low < b.high && b.low < a.high
  );
}

/**
 * The steps of a line through points, each as a box around it: to the right, then up
 * or down.
 */
function stepsOf(points: readonly (readonly [number, number])[]): IBox[] {
  const wide = 2;
  return points.slice(1).flatMap(([x, y], index) => {
    const [x0, y0] = points[index];
    return [
      { left: x0, right: x, low: y0 - wide, high: y0 + wide },
      {
        left: x - wide,
        right: x + wide,
        low: Math.min(y, y0),
        high: Math.max(y, y0)
      }
    ];
  });
}

/**
 * The positions of values on an axis of a given length.
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
 * How far an axis extends beyond the range of the values: a name below the
 * lowest point must fit above the axis.
 */
const AXIS_PADDING = 0.16;

/**
 * The range of an axis; logarithms if it is logarithmic.
 */
function rangeOf(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (isLog(values)) {
    const margin = Math.max(0.06, AXIS_PADDING * Math.log10(high / low));
    return [Math.log10(low) - margin, Math.log10(high) + margin];
  }
  const margin = high > low ? AXIS_PADDING * (high - low) : 0.3 * high;
  return [Math.max(0, low - margin), high + 1.6 * margin];
}

function axisOf(values: readonly number[], nticks: number): object {
  const range = rangeOf(values);
  if (!isLog(values)) {
    return { range, nticks };
  }
  // By default, Plotly abbreviates the ticks between powers of ten to their first digit.
  const tickvals = ticksOf(Math.min(...values), Math.max(...values), nticks);
  return { type: 'log', range, tickvals, ticktext: tickvals.map(String) };
}

/**
 * 1, 2 and 5 times the powers of ten in a range and next to it; only the powers
 * if that is too many.
 */
function ticksOf(low: number, high: number, nticks: number): number[] {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const isLong = last - first > 3 || 3 * (last - first) > 2 * nticks;
  const steps = isLong ? [1] : [1, 2, 5];
  return powers.flatMap(power =>
    steps.map(step => Number((step * 10 ** power).toPrecision(1)))
  );
}

function isLog(values: readonly number[]): boolean {
  const low = Math.min(...values);
  return low > 0 && Math.max(...values) / low > LOG_FROM;
}
