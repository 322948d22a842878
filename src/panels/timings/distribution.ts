import type { TranslationBundle } from '@jupyterlab/translation';
import type { IChartTheme, ITrace, MakeFigure } from '../../charts';
import { asText, withOpacity } from '../../charts';
import { formatCount, formatMicroseconds, shorten } from '../../words/format';
import { densityOf } from './density';
import type { ITimed } from './rows';
import type { IScale } from './scale';
import { scaleOf } from './scale';
import { comparison } from '../../words/comparison';

/**
 * The approximate maximum number of samples of a variant that are drawn
 * individually; the curve above them represents all.
 */
const MAX_SAMPLES = 320;

/**
 * The length of the line that represents a sample, in rows.
 */
const DOT = 0.004;

/**
 * The height of a variant's row, and of the part below the rows, in pixels.
 */
const ROW = 72;
const AXIS = 56;

/**
 * The height of a plot with a given number of variants.
 */
export function distributionHeight(count: number): number {
  return Math.max(1, count) * ROW + AXIS;
}

/**
 * A plot of the distributions.
 */
export interface IDistribution {
  readonly make: MakeFigure;

  /**
   * Whether its axis is logarithmic.
   */
  readonly isLog: boolean;
}

/**
 * The distribution of each variant's times: a curve of all samples, individual
 * samples below it, and the median with its interval.
 *
 * @param isLog - Whether the axis is logarithmic; null: if that shows more.
 */
export function distributionOf(
  rows: readonly ITimed[],
  isLog: boolean | null,
  trans: TranslationBundle
): IDistribution {
  const sorted = rows.map(row => ({
    row,
    sorted: [...row.samples].sort((a, b) => a - b)
  }));
  const scale = scaleOf(sorted, isLog);
  const make: MakeFigure = (theme, { width }) => {
    if (!scale) {
      return { traces: [] };
    }
    const isNarrow = width < 480;
    // Space for `at least 3.00× faster`; in a narrow view, `too noisy to judge`.
    const [left, right] = [isNarrow ? 124 : 148, 44];
    const axis = [scale.low, scale.high].map(limit => limit / scale.factor);
    return {
      traces: sorted.flatMap((series, place) =>
        tracesOf(series.row, series.sorted, -place, scale, theme, trans)
      ),
      layout: {
        margin: { l: left, r: right, t: 6, b: AXIS - 8 },
        xaxis: {
          type: scale.isLog ? 'log' : 'linear',
          range: scale.isLog ? axis.map(Math.log10) : axis,
          ...(scale.isLog
            ? {
                title: trans.__('latency'),
                ...logTicks(scale, width - left - right)
              }
            : {
                title: trans.__('latency, %1', scale.unit),
                tickvals: roundValues(axis, Math.floor(width / 90))
              })
        },
        yaxis: {
          automargin: false,
          range: [-(rows.length - 1) - 0.42, 0.62],
          showgrid: false,
          ticks: '',
          tickvals: rows.map((_, place) => -place),
          ticktext: rows.map(row => labelOf(row, isNarrow ? 18 : 21, trans))
        },
        shapes: rows.slice(1).map((_, place) => ({
          type: 'line',
          layer: 'below',
          xref: 'paper',
          x0: 0,
          x1: 1,
          y0: -place - 0.4,
          y1: -place - 0.4,
          line: { color: withOpacity(theme.line, 0.5), width: 1 }
        })),
        annotations: sorted.flatMap((series, place) =>
          countBeyondAxis(series.sorted, -place, scale, theme, trans)
        )
      }
    };
  };
  return { make, isLog: scale?.isLog ?? false };
}

/**
 * The minimum number of ticks to compute: of that many, at least two are in any
 * range.
 */
const FEWEST = 4;

/**
 * Round values in a range, as many as fit.
 */
function roundValues([low, high]: readonly number[], room: number): number[] {
  const most = Math.max(FEWEST, room);
  const unit = 10 ** Math.floor(Math.log10((high - low) / most));
  const valuesOf = (step: number) => {
    const first = Math.ceil(low / step);
    const last = Math.floor(high / step);
    return Array.from({ length: last - first + 1 }, (_, place) =>
      Number(((first + place) * step).toPrecision(6))
    );
  };
  return [1, 2, 2.5, 5, 10]
    .map(step => valuesOf(step * unit))
    .find(values => values.length <= most)!;
}

/**
 * Ticks of a logarithmic axis, each with its own unit; as many as fit.
 */
function logTicks(
  { low, high, factor }: IScale,
  width: number
): { tickvals: number[]; ticktext: string[] } {
  const first = Math.floor(Math.log10(low));
  const decades = Array.from(
    { length: Math.ceil(Math.log10(high)) - first + 1 },
    (_, place) => 10 ** (first + place)
  );
  const choices = [[1, 2, 5], [1, 3], [1]].map(steps =>
    decades
      .flatMap(decade => steps.map(step => step * decade))
      .filter(tick => tick >= low && tick <= high)
  );
  const room = Math.max(2, Math.floor(width / 56));
  const fitting =
    choices.find(choice => choice.length <= room) ??
    choices[2].filter((_, place) => place % 2 === 0);
  // Within a decade, they may be too few for a scale.
  const ticks = fitting.length < 2 ? roundValues([low, high], room) : fitting;
  return {
    tickvals: ticks.map(tick => tick / factor),
    ticktext: ticks.map(withoutTrailingZeros)
  };
}

/**
 * A round time without redundant digits: `10 µs`.
 */
function withoutTrailingZeros(microseconds: number): string {
  return formatMicroseconds(microseconds).replace(/\.?0+(?= )/, match =>
    match.startsWith('.') ? '' : match
  );
}

/**
 * The color of a variant.
 */
export function colorOf(row: ITimed, theme: IChartTheme): string {
  return row.color < 0
    ? theme.muted
    : theme.series[row.color % theme.series.length];
}

function labelOf(
  row: ITimed,
  maxLength: number,
  trans: TranslationBundle
): string {
  // Bold letters are wider.
  const name = asText(shorten(row.name, maxLength - 3));
  const median = row.median === null ? '' : formatMicroseconds(row.median);
  const words = shorten(comparison(row, trans), maxLength);
  return [`<b>${name}</b>`, median, asText(words)].filter(Boolean).join('<br>');
}

function tracesOf(
  row: ITimed,
  sorted: readonly number[],
  base: number,
  scale: IScale,
  theme: IChartTheme,
  trans: TranslationBundle
): ITrace[] {
  if (sorted.length === 0) {
    return [];
  }
  const color = colorOf(row, theme);
  const name = asText(row.name);
  const traces: ITrace[] = [];
  const over = (value: number) => value / scale.factor;
  const to = scale.isLog ? Math.log : (value: number) => value;
  const back = scale.isLog ? Math.exp : (value: number) => value;
  const density = densityOf(scale.isLog ? sorted.map(to) : sorted, [
    to(scale.low),
    to(scale.high)
  ]);
  if (density) {
    const floor = base + 0.04;
    const x = density.x.map(value => over(back(value)));
    traces.push({
      type: 'scatter',
      mode: 'lines',
      x: [x[0], ...x, x[x.length - 1]],
      y: [floor, ...density.y.map(value => floor + 0.5 * value), floor],
      fill: 'toself',
      fillcolor: withOpacity(color, 0.22),
      line: { color: color, width: 1.2 },
      hoverinfo: 'skip'
    });
  }
  // Lines of invisible length with round ends: one element instead of hundreds.
  const drawn = drawnSamples(row.samples.length);
  const dots = <T>(of: (place: number) => readonly [T, T]): (T | null)[] =>
    drawn.flatMap(place => [...of(place), null]);
  const texts = drawn.map(
    place =>
      `${name}: ${formatMicroseconds(row.samples[place])}<br>${trans.__('round %1', row.first + place + 1)}`
  );
  traces.push({
    type: 'scatter',
    mode: 'lines',
    x: dots(place => [over(row.samples[place]), over(row.samples[place])]),
    y: dots(place => {
      const y = base - 0.2 + 0.13 * jitter(place);
      return [y, y + DOT];
    }),
    text: texts.flatMap(text => [text, text, '']),
    hoverinfo: 'text',
    line: { color: withOpacity(color, 0.5), width: 3.6, simplify: false }
  });
  const { median, interval } = row;
  if (median !== null && interval) {
    const hasInterval = !row.few;
    const text = [
      name,
      trans.__('median %1', formatMicroseconds(median)),
      hasInterval
        ? trans.__('95 % interval %1', row.intervalText)
        : row.intervalText
    ].join('<br>');
    if (hasInterval) {
      traces.push({
        type: 'scatter',
        mode: 'lines',
        x: interval.map(over),
        y: [base, base],
        line: { color: theme.text, width: 5 },
        text: [text, text],
        hoverinfo: 'text'
      });
    }
    traces.push({
      type: 'scatter',
      mode: 'lines',
      x: [over(median), over(median)],
      y: [base - 0.36, base + 0.56],
      line: { color: theme.text, width: 1.5 },
      text: [text, text],
      hoverinfo: 'text'
    });
  }
  return traces;
}

/**
 * The number of samples beyond the end of the axis: stated, not drawn.
 */
function countBeyondAxis(
  sorted: readonly number[],
  base: number,
  scale: IScale,
  theme: IChartTheme,
  trans: TranslationBundle
): object[] {
  const count = sorted.filter(sample => sample > scale.high).length;
  if (count === 0) {
    return [];
  }
  const slowest = formatMicroseconds(sorted[sorted.length - 1]);
  return [
    {
      xref: 'paper',
      x: 1,
      y: base - 0.2,
      xanchor: 'left',
      xshift: 3,
      showarrow: false,
      text: `+${count} ▸`,
      hovertext: trans._n(
        '%3 sample is slower: %2',
        '%3 samples are slower, up to %2',
        count,
        slowest,
        formatCount(count)
      ),
      font: { color: theme.muted }
    }
  ];
}

/**
 * The indices of the samples to draw. If they do not all fit, every second,
 * fourth and so on, so that drawn samples stay when more arrive.
 */
function drawnSamples(count: number): number[] {
  let step = 1;
  while (count / step > MAX_SAMPLES) {
    step *= 2;
  }
  return Array.from(
    { length: Math.ceil(count / step) },
    (_, place) => place * step
  );
}

/**
 * The position of a sample across its row, between -1 and 1: always the same
 * for a sample, and far apart for neighbors.
 */
function jitter(place: number): number {
  return 2 * ((place * 0.618033988749895) % 1) - 1;
}
