import type { TranslationBundle } from '@jupyterlab/translation';
import type { IChartTheme, ITrace, MakeFigure } from '../../../charts';
import { asText } from '../../../charts';
import { formatSeconds, shorten } from '../../../words/format';
import { TABLES } from '../../../words/tables';
import type { ColdSwitch } from '../../../protocol/types';
import { isUnchanged, isMeasured } from './rows';

/**
 * The height of a row, and of the margins, in pixels.
 */
const ROW = 38;
const MARGINS_HEIGHT = 76;

/**
 * The width of a letter, in pixels, and the share of the width that names may
 * take.
 */
const LETTER = 6.2;
const NAMES = 0.4;

/**
 * The height of a chart with a given number of rows.
 */
export function coldHeight(count: number): number {
  return count * ROW + MARGINS_HEIGHT;
}

/**
 * The first call's time under each setting, cold and warm, with lines for the
 * times without it.
 */
export function coldChartOf(
  rows: readonly ColdSwitch[],
  trans: TranslationBundle
): MakeFigure {
  const plotted = rows.filter(isMeasured);
  const names = plotted.map(row => row.label);
  const { cold, warm } = TABLES.cold(trans);
  return (theme, { width }) => {
    const most = Math.floor((width * NAMES) / LETTER);
    const longest = Math.max(...names.map(name => Math.min(name.length, most)));
    const usual = plotted.find(isUnchanged);
    return {
      traces: [
        bars(plotted, 'cold_s', cold.title, 0, theme),
        bars(plotted, 'warm_s', warm.title, 2, theme)
      ],
      layout: {
        barmode: 'group',
        bargap: 0.28,
        margin: { l: longest * LETTER + 14, r: 52, t: 30, b: 42 },
        showlegend: true,
        legend: { orientation: 'h', x: 0, y: 1, yanchor: 'bottom' },
        xaxis: { title: trans.__('first call, s'), rangemode: 'tozero' },
        yaxis: {
          autorange: 'reversed',
          tickvals: plotted.map((_, place) => place),
          ticktext: names.map(name => asText(shorten(name, most)))
        },
        shapes: (['cold_s', 'warm_s'] as const).flatMap((figure, place) =>
          usual && usual[figure] !== null
            ? [
                {
                  type: 'line',
                  x0: usual[figure],
                  x1: usual[figure],
                  yref: 'paper',
                  y0: 0,
                  y1: 1,
                  line: {
                    color: theme.series[2 * place],
                    width: 1,
                    dash: 'dot'
                  }
                }
              ]
            : []
        )
      }
    };
  };
}

function bars(
  rows: readonly ColdSwitch[],
  figure: 'cold_s' | 'warm_s',
  name: string,
  color: number,
  theme: IChartTheme
): ITrace {
  const values = rows.map(row => row[figure]);
  const texts = values.map(value =>
    value === null ? '' : formatSeconds(value)
  );
  return {
    type: 'bar',
    orientation: 'h',
    name,
    x: values,
    y: rows.map((_, place) => place),
    text: texts,
    textposition: 'outside',
    cliponaxis: false,
    textfont: { color: theme.text },
    hovertext: texts.map(value => `${name}: ${value}`),
    hoverinfo: 'text',
    marker: { color: theme.series[color] }
  };
}
