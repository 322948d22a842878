export { Chart } from './chart';
export { Plot } from './plot';
export type { MakeFigure } from './plot';
export { asText } from './plotly';
export type { IFigure, ITrace } from './plotly';
export { fade, onThemeChange, readChartTheme } from './theme';
export type { IChartTheme } from './theme';
