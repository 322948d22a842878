import type { TranslationBundle } from '@jupyterlab/translation';
import type { IChartTheme, ITrace, MakeFigure } from '../../charts';
import { asText, withOpacity } from '../../charts';
import type { Memory } from '../../protocol/types';
import { formatBytes } from '../../words/format';
import type { IRow } from './rows';
import { linesOf } from './rows';

/**
 * The maximum number of allocations drawn as bars; the table has all of them.
 */
export const MAX_BARS = 30;

/**
 * The height of a bar's line, and of the curve above, in pixels.
 */
const LINE = 15;
const CURVE = 120;

/**
 * The gap between the two, and the margins above and below, in pixels.
 */
const GAP = 16;
const MARGIN = { top: 8, bottom: 36 };
const MARGINS = MARGIN.top + MARGIN.bottom;

/**
 * The fractions of the peak at the ticks of the curve's axis.
 */
const TICKS = [0, 0.5, 1];

/**
 * The required height of the figure.
 */
export function heightOf(rows: readonly IRow[]): number {
  return CURVE + GAP + MARGINS + LINE * linesOf(rows, MAX_BARS).length;
}

/**
 * The timeline: the live bytes at each launch, and below it the lifetime of
 * each allocation and the buffers that use it in turn.
 */
export function figureOf(
  memory: Memory,
  rows: readonly IRow[],
  trans: TranslationBundle
): MakeFigure {
  const lines = linesOf(rows, MAX_BARS);
  return (theme, { width, height }) => {
    const drawn = Math.max(height - MARGINS, 1);
    const split = 1 - CURVE / drawn;
    const steps = memory.steps.length;
    return {
      traces: [
        curve(memory, theme, trans),
        ...lines.flatMap(({ rows: line }, place) =>
          line.map((row, turn) =>
            bar(row, lines.length - 1 - place, turn, theme, trans)
          )
        )
      ],
      layout: {
        barmode: 'overlay',
        bargap: 0.25,
        margin: {
          l: width < 420 ? 48 : 84,
          r: 12,
          t: MARGIN.top,
          b: MARGIN.bottom
        },
        xaxis: {
          title: trans.__('launch'),
          range: [-0.5, Math.max(steps - 0.5, 0.5)],
          tick0: 0,
          dtick: Math.max(1, Math.ceil((steps * 60) / Math.max(width, 1))),
          anchor: 'y2',
          zeroline: false
        },
        yaxis: {
          domain: [Math.max(split, 0.3), 1],
          rangemode: 'tozero',
          tickmode: 'array',
          tickvals: TICKS.map(part => part * memory.peak_bytes),
          ticktext: TICKS.map(part => formatBytes(part * memory.peak_bytes))
        },
        yaxis2: {
          domain: [0, Math.max(split - GAP / drawn, 0.25)],
          range: [-0.6, lines.length - 0.4],
          tickmode: 'array',
          tickvals: lines.map((_, place) => lines.length - 1 - place),
          ticktext: lines.map(({ home }) => asText(shorten(home, width))),
          fixedrange: true,
          zeroline: false
        }
      }
    };
  };
}

function curve(
  memory: Memory,
  theme: IChartTheme,
  trans: TranslationBundle
): ITrace {
  const { live_bytes: live } = memory;
  const last = live.length - 1;
  // All launches have equal widths: the line steps midway between two. The first
  // and the last need an end.
  const launches = live.length ? [0, ...live.keys(), last] : [];
  return {
    type: 'scatter',
    mode: 'lines',
    x: launches.map((launch, place) =>
      place === 0 ? -0.5 : place > live.length ? last + 0.5 : launch
    ),
    y: launches.map(launch => live[launch]),
    customdata: launches,
    line: { shape: 'hvh', color: theme.accent, width: 1.5 },
    fill: 'tozeroy',
    fillcolor: withOpacity(theme.accent, 0.18),
    text: launches.map(
      launch =>
        `${asText(memory.steps[launch] ?? '')}<br>` +
        trans.__('%1 live', formatBytes(live[launch]))
    ),
    hoverinfo: 'text'
  };
}

function bar(
  { buffer }: IRow,
  line: number,
  turn: number,
  theme: IChartTheme,
  trans: TranslationBundle
): ITrace {
  const color = buffer.kind === 'output' ? theme.good : theme.accent;
  const { bytes } = buffer;
  const size = bytes === null ? trans.__('size not known') : formatBytes(bytes);
  const taken = buffer.reuses
    ? `<br>${asText(trans.__('in the memory of %1', buffer.reuses))}`
    : '';
  return {
    type: 'bar',
    orientation: 'h',
    yaxis: 'y2',
    x: [buffer.dies - buffer.born + 1],
    base: [buffer.born - 0.5],
    y: [line],
    customdata: [buffer.born],
    width: 0.75,
    marker: {
      color: withOpacity(color, turn % 2 === 0 ? 0.75 : 0.4),
      line: { color: theme.background, width: 1 }
    },
    text: [`${asText(buffer.name)}: ${size}${taken}`],
    textposition: 'none',
    hoverinfo: 'text'
  };
}

function shorten(name: string, width: number): string {
  const most = width < 420 ? 6 : 12;
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}
