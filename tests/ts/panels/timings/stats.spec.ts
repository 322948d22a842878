import { nullTranslator } from '@jupyterlab/translation';
import type { IChartTheme } from '../../../../src/charts';
import { distributionOf } from '../../../../src/panels/timings/distribution';
import { densityOf, quantile } from '../../../../src/panels/timings/density';
import { roundsAxis } from '../../../../src/panels/timings/ratios';
import { rowsOf } from '../../../../src/panels/timings/rows';
import { scaleOf } from '../../../../src/panels/timings/scale';
import { measurement, samples, series, timing } from '../../support/measured';
import { variantReport } from '../../support/structs';

const trans = nullTranslator.load('compilescope');
const ascending = (a: number, b: number) => a - b;

describe('densityOf', () => {
  it('has its peaks where the values are', () => {
    const values = [...samples(1, 200, 10), ...samples(2, 200, 30)].sort(
      ascending
    );
    const { x, y } = densityOf(values, [5, 50])!;
    const at = (value: number) => y[x.findIndex(point => point >= value)];
    expect(Math.max(...y)).toBe(1);
    expect(at(12)).toBeGreaterThan(at(24) * 2);
    expect(at(48)).toBeLessThan(0.3);
  });

  it('says nothing of few values', () => {
    expect(densityOf([1, 2, 3], [0, 4])).toBeNull();
  });

  it('takes values that are all the same', () => {
    const { y } = densityOf(new Array<number>(50).fill(10), [9, 11])!;
    expect(y.every(Number.isFinite)).toBe(true);
    expect(Math.max(...y)).toBe(1);
  });
});

it('finds quantiles', () => {
  expect([0, 0.25, 0.5, 1].map(share => quantile([1, 2, 3, 4], share))).toEqual(
    [1, 1.75, 2.5, 4]
  );
});

describe('scaleOf', () => {
  const of = (...all: number[][]) =>
    all.map((values, i) => ({
      row: rowsOf(
        measurement({ series: [series(String(i), { samples_us: values })] }),
        []
      )[0],
      sorted: [...values].sort(ascending)
    }));

  it('leaves out what is far off', () => {
    const values = [...samples(1, 200, 10), 5000];
    const scale = scaleOf(of(values), null)!;
    expect(scale.high).toBeLessThan(20);
    expect(scale).toMatchObject({ isLog: false, unit: 'µs' });
  });

  it('is logarithmic where times are far apart, or where that is wanted', () => {
    const far = of(samples(1, 50, 10), samples(2, 50, 1000));
    expect(scaleOf(far, null)).toMatchObject({
      isLog: true,
      unit: 'ms',
      factor: 1000
    });
    expect(scaleOf(far, false)!.isLog).toBe(false);
  });

  it('needs samples', () => {
    expect(scaleOf(of([]), null)).toBeNull();
  });
});

describe('rowsOf', () => {
  const variants = [
    variantReport('python', { timing: timing({ median_us: 15 }) }),
    variantReport('eager', {
      timing: timing({ median_us: 30, samples_us: [30] })
    }),
    variantReport('cpp')
  ];

  it('are what the build found, where nothing was measured since', () => {
    const rows = rowsOf(null, variants);
    expect(rows.map(row => [row.name, row.median, row.color])).toEqual([
      ['eager', 30, -1],
      ['python', 15, 0]
    ]);
    expect(rows.every(row => row.isInTurns)).toBe(true);
  });

  it('are what is measured; a build’s figures stand beside it', () => {
    const rows = rowsOf(
      measurement({
        rounds: 1,
        series: [
          series('eager', { samples_us: [31], median_us: 31 }),
          series('cpp', { samples_us: [11], median_us: 11 })
        ]
      }),
      variants
    );
    expect(
      rows.map(row => [row.name, row.median, row.isInTurns, row.color])
    ).toEqual([
      ['eager', 31, true, -1],
      ['python', 15, false, 0],
      ['cpp', 11, true, 1]
    ]);
  });

  it('keep a build’s figures until the first round is done', () => {
    const begun = measurement({ series: [series('eager'), series('python')] });
    expect(rowsOf(begun, variants).map(row => row.median)).toEqual([30, 15]);
  });

  it('end the running ratio with the one after all rounds', () => {
    const eighth = { rounds: 8, ratio: 1.9, interval: [1.2, 3.1] };
    const running = (rounds: number, differs: boolean | null) =>
      rowsOf(
        measurement({
          rounds,
          series: [
            series('python', {
              samples_us: samples(1, rounds, 10),
              ratio: 2,
              ratio_interval: [1.8, 2.2],
              differs,
              running: rounds < 8 ? [] : ([eighth] as never)
            })
          ]
        }),
        []
      )[0].running;
    expect(running(9, true)).toEqual([
      eighth,
      { rounds: 9, ratio: 2, interval: [1.8, 2.2] }
    ]);
    expect(running(8, true)).toEqual([eighth]);
    // With fewer than eight rounds a ratio has no interval.
    expect(running(7, null)).toEqual([]);
  });
});

describe('distributionOf', () => {
  const axisOf = (values: number[], isLog: boolean, width: number) => {
    const rows = rowsOf(
      measurement({ series: [series('a', { samples_us: values })] }),
      []
    );
    const theme = { text: '', line: '', muted: '', series: [''] };
    const { make } = distributionOf(rows, isLog, trans);
    const figure = make(theme as unknown as IChartTheme, {
      width,
      height: 300
    });
    return (figure.layout as { xaxis: { tickvals: number[] } }).xaxis.tickvals;
  };

  it.each([true, false])('has a scale where it is narrow: log %s', isLog => {
    expect(axisOf([75e3, 100e3, 141e3], isLog, 366)).toEqual([
      80, 100, 120, 140
    ]);
    expect(axisOf([1.01e3, 1.03e3, 1.05e3], isLog, 366).length).toBeGreaterThan(
      1
    );
  });

  it('has no more ticks than fit', () => {
    expect(axisOf([1, 1e6], true, 366).length).toBeLessThan(5);
    expect(axisOf([1, 1e6], false, 900).length).toBeLessThan(11);
  });
});

describe('roundsAxis', () => {
  const from = (first: number) => ({
    running: [{ rounds: first, ratio: 1, interval: [1, 1] as [number, number] }]
  });

  it('begins where the first ratio is, with whole rounds', () => {
    const { range, dtick } = roundsAxis([from(9), from(8)], 11, 4);
    expect(range[0]).toBe(8);
    expect(range[1]).toBeGreaterThan(11);
    expect(dtick).toBe(1);
    expect(roundsAxis([from(8)], 3000, 4).nticks).toBe(4);
  });

  it('has room around a single round', () => {
    expect(roundsAxis([from(8)], 8, 4).range).toEqual([7, 9]);
  });
});
