export { Chart } from './chart';
export type { MakeFigure } from './plot';
export { asText } from './plotly';
export type { IFigure, ITrace } from './plotly';
export { withOpacity, onThemeChange } from './theme';
export type { IChartTheme } from './theme';
