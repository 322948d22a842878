import type { IFigure } from './plotly';
import type { IChartTheme } from './theme';
import { withOpacity } from './theme';

/**
 * Plotly's configuration: no tools, no logo, nothing loaded from the network.
 */
export const CONFIG = {
  displayModeBar: false,
  displaylogo: false,
  doubleClick: 'reset',
  responsive: false,
  showTips: false,
  typesetMath: false
};

/**
 * A figure's layout in the page's colors: its own settings, completed.
 */
export function baseLayout(
  figure: IFigure,
  theme: IChartTheme,
  size: { readonly width: number; readonly height: number }
): Record<string, unknown> {
  const own = figure.layout ?? {};
  const axes = Object.keys(own).filter(name => /^[xy]axis\d*$/.test(name));
  return {
    autosize: false,
    dragmode: false,
    hovermode: 'closest',
    margin: { l: 56, r: 16, t: 8, b: 40 },
    paper_bgcolor: 'rgba(0, 0, 0, 0)',
    plot_bgcolor: 'rgba(0, 0, 0, 0)',
    showlegend: false,
    uirevision: 'keep',
    ...own,
    ...size,
    font: { family: theme.font, size: theme.fontSize, color: theme.text },
    hoverlabel: {
      align: 'left',
      bgcolor: theme.background,
      bordercolor: theme.muted,
      font: { family: theme.font, size: theme.fontSize, color: theme.text },
      namelength: -1
    },
    ...Object.fromEntries(
      ['xaxis', 'yaxis', ...axes].map(name => [
        name,
        axis(own[name] as Record<string, unknown> | undefined, theme)
      ])
    )
  };
}

function axis(
  own: Record<string, unknown> | undefined,
  theme: IChartTheme
): Record<string, unknown> {
  const title = own?.title;
  return {
    automargin: true,
    color: theme.muted,
    fixedrange: true,
    gridcolor: withOpacity(theme.line, 0.4),
    linecolor: theme.line,
    tickangle: 0,
    tickcolor: theme.line,
    zeroline: false,
    ...own,
    ...(typeof title === 'string' && {
      title: {
        text: title,
        standoff: 8,
        font: { color: theme.muted, size: theme.fontSize }
      }
    })
  };
}
