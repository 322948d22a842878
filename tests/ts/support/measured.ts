import type {
  Measurement,
  Series,
  Speedup,
  Timing
} from '../../../src/protocol/types';

/**
 * Samples that are the same every time, between `scale` and one and a half of
 * it.
 */
export function samples(seed: number, count: number, scale: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state * 16807) % 2147483647;
    return scale * (1 + (state % 1000) / 2000);
  });
}

export function series(name: string, change: Partial<Series> = {}): Series {
  return {
    name,
    first: 0,
    samples_us: [],
    median_us: null,
    interval_us: null,
    ratio: null,
    ratio_interval: null,
    differs: null,
    speedup: null,
    calls_per_sample: 1,
    warmup_calls: 0,
    settled: true,
    device: 'cpu',
    host_us: null,
    device_us: null,
    running: [],
    few: false,
    interval: '',
    ...change
  } as Series;
}

export function measurement(change: Partial<Measurement> = {}): Measurement {
  return {
    subject: 'f',
    id: 'm1',
    state: 'running',
    since: 0,
    rounds: 0,
    baseline: 'eager',
    series: [],
    fraction: null,
    problem: null,
    ...change
  };
}

export function timing(change: Partial<Timing> = {}): Timing {
  return {
    median_us: 20,
    interval_us: [19, 21],
    samples_us: [],
    calls_per_sample: 1,
    warmup_calls: 0,
    device: 'cpu',
    ratio: null,
    ratio_interval: null,
    baseline: 'eager',
    differs: null,
    host_us: null,
    device_us: null,
    threads: 2,
    settled: true,
    initial_state: 'unchanged',
    changes: [],
    speedup: null,
    turns: '',
    first_round: 0,
    running: [],
    few: false,
    interval: '',
    ...change
  } as Timing;
}

export function speedup(
  standing: Speedup['standing'],
  text: string,
  change: Partial<Speedup> = {}
): Speedup {
  return {
    ratio: 1,
    interval: null,
    over: 'eager',
    standing,
    text,
    detail: `the figures behind “${text}”`,
    ...change
  };
}
