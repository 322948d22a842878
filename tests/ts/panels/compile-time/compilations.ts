/** A compilation with its phases, cold and warm, and a kernel's load. */
import type { KernelLoad, Phase } from '../../../../src/protocol/types';
import { fullCompilation, variantReport } from '../../support/structs';

export function phase(
  name: string,
  start_us: number,
  duration_us: number,
  change: Partial<Phase> = {}
): Phase {
  return {
    name,
    start_us,
    duration_us,
    children: [],
    kind: 'dynamo',
    track: 0,
    detail: '',
    self_us: duration_us,
    ...change
  };
}

export const COLD = phase('frame', 0, 2e6, {
  self_us: 0,
  children: [
    phase('trace', 0, 5e5),
    phase('g++', 5e5, 1.5e6, { kind: 'cpp_build', detail: 'main.cpp' })
  ]
});
export const BUILT = variantReport('python', {
  stage: 'built',
  compile_time: {
    total_s: 2.5,
    parts: { dynamo: 0.5 },
    cold: true,
    kinds: [
      { kind: 'dynamo', self_us: 5e5, parallel_us: 0 },
      { kind: 'cpp_build', self_us: 1.5e6, parallel_us: 0 }
    ],
    outside_s: 0.5
  },
  warm_compile_time: {
    total_s: 0.25,
    parts: {},
    cold: false,
    kinds: [{ kind: 'dynamo', self_us: 2e5, parallel_us: 0 }],
    outside_s: 0.05
  }
});
export const ONE = fullCompilation({
  phases: [COLD],
  phase_times: BUILT.compile_time!.kinds,
  warm_phase_times: BUILT.warm_compile_time!.kinds,
  warm_phases: [phase('frame', 0, 2e5)],
  cache: [{ cache: 'FX graph', outcome: 'miss', key: 'abc', detail: '' }],
  warm_cache: [{ cache: 'FX graph', outcome: 'hit', key: 'abc', detail: '' }]
});

export const LOAD: KernelLoad = {
  kernel: 'fused_0',
  compilation: '0/0',
  call: 0,
  when: 'background',
  started_us: 1000,
  compile_us: 2e6,
  load_us: 500,
  autotune_us: null,
  first_run_us: 120,
  warm_run_us: 12,
  background: true,
  cached: false,
  how: 'A thread compiled it.',
  spans: []
};
