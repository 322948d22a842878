import { densityOf, quantile } from '../../src/panels/timings/density';
import { ascending, ratioOf } from '../../src/panels/timings/intervals';
import { rowsOf } from '../../src/panels/timings/rows';
import { RunningRatio } from '../../src/panels/timings/running';
import { scaleOf } from '../../src/panels/timings/scale';
import { measurement, samples, series, timing } from './measured';
import { variantReport } from './structs';

const logs = (count: number) => {
  const own = samples(2, count, 20);
  return samples(1, count, 30).map((each, i) => Math.log(each / own[i]));
};

describe('ratioOf', () => {
  // What `ratio` of analysis/figures/intervals.py says of the same samples.
  it.each([
    [5, 1.5719940042173013, 1.244297719087635, 1.9859918662449163],
    [8, 1.6208918193323503, 1.211769657926011, 2.0953635082726763],
    [20, 1.5906110087298837, 1.3662229974149698, 1.8249995065675502],
    [100, 1.5068269064774875, 1.4377841870608126, 1.5753718013547007],
    [1500, 1.4954260533589625, 1.4773272476611534, 1.519355317094675]
  ])('agrees with the kernel after %i rounds', (count, value, low, high) => {
    const found = ratioOf(logs(count));
    expect(found.value).toBeCloseTo(value, 12);
    expect(found.low).toBeCloseTo(low, 12);
    expect(found.high).toBeCloseTo(high, 12);
  });
});

describe('RunningRatio', () => {
  const own = samples(2, 400, 20);
  const baseline = { first: 0, samples: samples(1, 400, 30) };

  it('is the same, however the rounds come in', () => {
    const at = new RunningRatio();
    for (const count of [3, 9, 40, 41, 333]) {
      at.update(baseline, { first: 0, samples: own.slice(0, count) });
    }
    const parts = at.update(baseline, { first: 0, samples: own });
    const whole = new RunningRatio().update(baseline, {
      first: 0,
      samples: own
    });
    expect(parts).toEqual(whole);
    expect(whole[0].rounds).toBe(8);
    expect(whole[whole.length - 1]).toEqual({
      rounds: 400,
      ...ratioOf(logs(400))
    });
    expect(whole.length).toBeLessThan(120);
  });

  it('pairs a variant that joined with the rounds it was in', () => {
    const late = { first: 100, samples: own.slice(100) };
    const points = new RunningRatio().update(baseline, late);
    expect(points[0].rounds).toBe(108);
    expect(points[points.length - 1]).toEqual({
      rounds: 400,
      ...ratioOf(logs(400).slice(100))
    });
  });

  it('begins anew with another measurement', () => {
    const at = new RunningRatio();
    at.update(baseline, { first: 0, samples: own });
    const other = { first: 0, samples: samples(5, 10, 30) };
    const points = at.update(baseline, other);
    expect(points.map(each => each.rounds)).toEqual([8, 9, 10]);
  });

  it('says nothing of a few rounds', () => {
    const few = { first: 0, samples: own.slice(0, 7) };
    expect(new RunningRatio().update(baseline, few)).toEqual([]);
  });

  it('keeps up with thousands of rounds of six variants', () => {
    const many = { first: 0, samples: samples(3, 5000, 30) };
    const all = Array.from({ length: 6 }, (_, i) => samples(i + 10, 5000, 20));
    const running = all.map(() => new RunningRatio());
    running.forEach((each, i) =>
      each.update(many, { first: 0, samples: all[i].slice(0, 4990) })
    );
    const start = performance.now();
    running.forEach((each, i) =>
      each.update(many, { first: 0, samples: all[i] })
    );
    // A frame has 16 ms; the machine may have other things to do.
    expect(performance.now() - start).toBeLessThan(200);
  });
});

describe('densityOf', () => {
  it('has its peaks where the values are', () => {
    const values = [...samples(1, 200, 10), ...samples(2, 200, 30)].sort(
      ascending
    );
    const { x, y } = densityOf(values, [5, 50])!;
    const at = (value: number) => y[x.findIndex(each => each >= value)];
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
  expect([0, 0.25, 0.5, 1].map(each => quantile([1, 2, 3, 4], each))).toEqual([
    1, 1.75, 2.5, 4
  ]);
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
    expect(rows.map(each => [each.name, each.median, each.colour])).toEqual([
      ['eager', 30, -1],
      ['python', 15, 0]
    ]);
    expect(rows.every(each => each.isInTurns)).toBe(true);
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
      rows.map(each => [each.name, each.median, each.isInTurns, each.colour])
    ).toEqual([
      ['eager', 31, true, -1],
      ['python', 15, false, 0],
      ['cpp', 11, true, 1]
    ]);
  });

  it('keep a build’s figures until the first round is done', () => {
    const begun = measurement({ series: [series('eager'), series('python')] });
    expect(rowsOf(begun, variants).map(each => each.median)).toEqual([30, 15]);
  });
});
