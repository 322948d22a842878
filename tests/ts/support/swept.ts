import type { Sweep, SweepCell } from '../../../src/protocol/types';
import { variant } from './fakes';
import { speedup, timing } from './measured';

/**
 * A cell that waits.
 */
export function cell(name: string, change: Partial<SweepCell> = {}): SweepCell {
  return {
    key: `key of ${name}`,
    name,
    variant: variant({ cpp_wrapper: name.startsWith('cpp') }),
    shape: '',
    arguments: ['x: float32[4] cpu'],
    state: 'waiting',
    step: '',
    timing: null,
    throughput_per_s: null,
    compile_time: null,
    memory_bytes: null,
    accuracy: [],
    accurate: null,
    result: '',
    effective: [],
    problem: null,
    worker: '',
    device: 'cpu',
    started_s: null,
    took_s: null,
    tries: 0,
    reused: false,
    ...change
  };
}

/**
 * A cell that was measured.
 *
 * @param us - A call's time; the interval is a tenth around it.
 * @param compile - The first call's time in seconds.
 */
export function done(
  name: string,
  us: number,
  compile: number,
  change: Partial<SweepCell> = {}
): SweepCell {
  return cell(name, {
    state: 'done',
    timing: timing({
      median_us: us,
      interval_us: [us * 0.95, us * 1.05],
      ratio: 100 / us,
      ratio_interval: [95 / us, 105 / us],
      differs: Math.abs(us - 100) > 5,
      speedup:
        Math.abs(us - 100) > 5
          ? speedup(
              us < 100 ? 'faster' : 'slower',
              us < 100
                ? `${(100 / us).toFixed(2)}× faster`
                : `${(us / 100).toFixed(2)}× slower`
            )
          : speedup('same', 'no difference')
    }),
    compile_time: {
      total_s: compile,
      parts: { dynamo: 0.5 },
      cold: true,
      kinds: [],
      outside_s: 0
    },
    throughput_per_s: 1e6 / us,
    memory_bytes: 4096,
    accurate: true,
    started_s: 1000,
    took_s: 12,
    tries: 1,
    ...change
  });
}

export function sweep(cells: SweepCell[], change: Partial<Sweep> = {}): Sweep {
  return {
    id: 'sweep-1',
    cells,
    state: 'running',
    shapes: [...new Set(cells.map(entry => entry.shape))],
    items: 1,
    unit: 'calls',
    folder: '/tmp/sweeps',
    executor: 'processes, 1 at a time',
    started_s: 1000,
    took_s: null,
    left: '',
    waits_for: '',
    cell_s: null,
    status: 'Sweeping: 1 of 3 cells',
    status_detail: '',
    fraction: 0,
    winner: '',
    winners: {},
    pareto: [],
    code: '',
    codes: {},
    verdicts: {},
    overall: '',
    problems: [],
    ...change
  };
}
