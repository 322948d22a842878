import type { TranslationBundle } from '@jupyterlab/translation';
import type { IChartTheme, ITrace, MakeFigure } from '../../charts';
import { asText, withOpacity } from '../../charts';
import { formatCount, formatRatio, shorten } from '../../words/format';
import type { RatioAtRound } from '../../protocol/types';
import { colorOf } from './distribution';
import { formatRatioInterval } from './phrases';
import type { ITimed } from './rows';

/**
 * The height of a label at a line's end, in pixels.
 */
const LABEL = 15;

/**
 * The fraction of the rounds from which on the axis fits everything that is
 * drawn.
 */
const AXIS_FROM_SHARE = 0.25;

/**
 * The axis includes an interval only up to this multiple of the ratio: after a
 * few rounds, some intervals are so wide that nothing else would be visible.
 */
const MAX_RATIO = 2;

/**
 * The ratio to the baseline and its uncertainty, by round.
 */
export function ratiosOf(
  shown: readonly ITimed[],
  baseline: string,
  trans: TranslationBundle
): MakeFigure {
  const rounds = Math.max(0, ...shown.map(row => last(row).rounds));
  return (theme, { width, height }) => {
    if (shown.length === 0) {
      return { traces: [] };
    }
    const range = rangeOf(shown, rounds);
    const room = width < 260 ? 0 : width < 420 ? 9 : 16;
    const texts = shown.map(row => {
      const name = room > 0 ? [shorten(row.name, room)] : [];
      // As in all views; if it does not fit, the table below has it.
      const { speedup } = row;
      const isClear =
        speedup?.standing === 'faster' || speedup?.standing === 'slower';
      const ratio = room > 9 && isClear ? [speedup.text] : [];
      return [...name, ...ratio].join(' ');
    });
    const right = 14 + 6.6 * Math.max(...texts.map(text => text.length));
    const margin = { l: 56, r: right, t: 10, b: 48 };
    return {
      traces: shown.flatMap(row => tracesOf(row, theme, trans)),
      layout: {
        margin,
        xaxis: {
          title: trans.__('rounds'),
          ...roundsAxis(shown, rounds, Math.max(3, Math.floor(width / 90)))
        },
        yaxis: {
          title: trans.__('speedup over %1', asText(baseline)),
          range,
          ticksuffix: '×',
          nticks: 7
        },
        shapes: [
          {
            type: 'line',
            xref: 'paper',
            x0: 0,
            x1: 1,
            y0: 1,
            y1: 1,
            line: { color: theme.muted, width: 1, dash: 'dash' }
          }
        ],
        annotations: labelsOf(
          shown,
          texts,
          range,
          height - margin.t - margin.b,
          theme
        )
      }
    };
  };
}

/**
 * From the first round with a ratio: the rounds before it are empty, and for a
 * slow model would be most of the chart.
 *
 * @param maxTicks - The maximum number of ticks.
 */
export function roundsAxis(
  shown: readonly Pick<ITimed, 'running'>[],
  rounds: number,
  maxTicks: number
): { range: [number, number]; nticks?: number; dtick?: number } {
  const first = Math.min(...shown.map(({ running }) => running[0].rounds));
  if (first === rounds) {
    return { range: [rounds - 1, rounds + 1], dtick: 1 };
  }
  const range: [number, number] = [first, rounds + (rounds - first) * 0.01];
  // Rounds are whole numbers.
  return rounds - first <= maxTicks
    ? { range, dtick: 1 }
    : { range, nticks: maxTicks };
}

function tracesOf(
  row: ITimed,
  theme: IChartTheme,
  trans: TranslationBundle
): ITrace[] {
  const color = colorOf(row, theme);
  const points = row.running;
  const x = points.map(point => point.rounds);
  return [
    {
      type: 'scatter',
      mode: 'lines',
      x: [...x, ...[...x].reverse()],
      y: [
        ...points.map(({ interval }) => interval[1]),
        ...points.map(({ interval }) => interval[0]).reverse()
      ],
      fill: 'toself',
      fillcolor: withOpacity(color, 0.16),
      line: { width: 0 },
      hoverinfo: 'skip'
    },
    {
      type: 'scatter',
      mode: points.length > 1 ? 'lines' : 'markers',
      x,
      y: points.map(point => point.ratio),
      line: { color: color, width: 2 },
      marker: { color: color, size: 6 },
      text: points.map(
        ({ rounds, ratio, interval }) =>
          `<b>${asText(row.name)}</b> ${formatRatio(ratio)}<br>` +
          `${trans.__('99 % interval %1', formatRatioInterval(interval))}<br>` +
          trans.__('after %1 rounds', formatCount(rounds))
      ),
      hoverinfo: 'text'
    }
  ];
}

function rangeOf(shown: readonly ITimed[], rounds: number): [number, number] {
  const values = shown.flatMap(row => {
    const value = last(row).ratio;
    return row.running
      .filter(round => round.rounds >= rounds * AXIS_FROM_SHARE)
      .flatMap(({ ratio, interval: [low, high] }) => [low, ratio, high])
      .map(limit =>
        Math.min(Math.max(limit, value / MAX_RATIO), value * MAX_RATIO)
      );
  });
  const [low, high] = [Math.min(1, ...values), Math.max(1, ...values)];
  const margin = Math.max(0.08 * (high - low), 0.02);
  return [Math.max(0, low - margin), high + margin];
}

/**
 * Names at the lines' ends, moved apart where they would overlap.
 */
function labelsOf(
  shown: readonly ITimed[],
  texts: readonly string[],
  [low, high]: readonly [number, number],
  height: number,
  theme: IChartTheme
): object[] {
  const perPixel = (high - low) / Math.max(1, height);
  const labels = shown
    .map((row, place) => ({
      text: texts[place],
      color: colorOf(row, theme),
      y: last(row).ratio
    }))
    .sort((a, b) => a.y - b.y);
  const gap = LABEL * perPixel;
  labels.forEach((label, place) => {
    if (place > 0) {
      label.y = Math.max(label.y, labels[place - 1].y + gap);
    }
  });
  const over = labels[labels.length - 1].y - (high - gap / 2);
  if (over > 0) {
    let ceiling = high - gap / 2;
    for (const label of [...labels].reverse()) {
      label.y = Math.min(label.y, ceiling);
      ceiling = label.y - gap;
    }
  }
  return labels.map(({ text, color, y }) => ({
    xref: 'paper',
    x: 1,
    y,
    xanchor: 'left',
    xshift: 4,
    showarrow: false,
    text: asText(text),
    font: { color }
  }));
}

function last({ running }: ITimed): RatioAtRound {
  return running[running.length - 1];
}
