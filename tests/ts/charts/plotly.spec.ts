import { loadPlotly } from '../../../src/charts/plotly';

let isThere = false;

jest.mock('plotly.js-basic-dist-min', () => {
  if (!isThere) {
    throw new Error('offline');
  }
  return { __esModule: true, default: { react: jest.fn() } };
});

it('Plotly is loaded with the next plot if that failed', async () => {
  await expect(loadPlotly()).rejects.toThrow('offline');
  isThere = true;
  const plotly = await loadPlotly();
  expect(plotly.react).toBeDefined();
  expect(await loadPlotly()).toBe(plotly);
});
