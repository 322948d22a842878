import * as React from 'react';
import { OverviewBody } from '../../../../src/panels/overview/body';
import type { Overview, Result } from '../../../../src/protocol/types';
import {
  counted,
  overview,
  report,
  variant,
  variantSummary
} from '../../support/fakes';
import { speedup } from '../../support/measured';
import { contextOf, HOSTILE, stage, ViewModel } from '../../support/views';

export function result(name: string, change: Partial<Result> = {}): Result {
  return {
    variant: name,
    title: name,
    state: 'measured',
    why: '',
    latency_us: 50,
    latency: '50.0 µs',
    interval_us: [48, 52],
    interval_title: '95 % interval',
    interval: '95 % interval 48.0–52.0 µs',
    few: false,
    noisy: false,
    speedup: null,
    first_call_s: null,
    first_call: '',
    cold: true,
    accurate: null,
    best: false,
    same_code: '',
    ...change
  };
}

export const FULL: Partial<Overview> = {
  headline:
    'The C++ wrapper is fastest: 40.0 µs a call, 2.50× faster than eager.',
  scale_us: 100,
  results: [
    result('eager', {
      latency_us: 100,
      latency: '100 µs',
      interval_us: [98, 100]
    }),
    result('python', {
      title: 'Python wrapper',
      speedup: speedup('noisy', 'too noisy to judge'),
      interval_us: [20, 90],
      latency: '20.0–90.0 µs',
      noisy: true
    }),
    result('cpp', {
      title: 'C++ wrapper',
      latency_us: 40,
      latency: '40.0 µs',
      speedup: speedup('faster', '2.50× faster'),
      first_call_s: 12.5,
      first_call: '12.5 s',
      accurate: true,
      best: true
    })
  ],
  targets: [
    {
      variant: 'h100',
      title: 'Python wrapper on H100 SXM',
      device: 'H100 SXM',
      call_us: 11,
      text: '≥ 11.0 µs a call, limited by launches'
    }
  ],
  wrapper: {
    headline: 'Yes: 1.25× faster per call.',
    text: 'It saves 10.0 of 50.0 µs per call (20 %).',
    view: 'wrappers',
    requested: null,
    unbuilt: false,
    remedy: '',
    undecided: false
  },
  limit: {
    variant: 'python',
    title: 'Python wrapper',
    headline: 'Launch-bound: kernels run for 25 % of a call.',
    text: '75 % of 40 µs is overhead.',
    bound: 'launch',
    basis: 'measured',
    parts: [
      {
        kind: 'launches',
        title: 'launches',
        us: 30,
        share: 0.75,
        text: 'launches 75 %'
      },
      {
        kind: 'kernels',
        title: 'kernels',
        us: 10,
        share: 0.25,
        text: 'kernels 25 %'
      }
    ],
    view: 'layers',
    study: '',
    unbuilt: false,
    remedy: '',
    calls: 'The breakdown is a separate run.'
  },
  suggestions: [
    {
      what: 'CUDA graphs',
      why: `One launch replays all. ${HOSTILE}`,
      gain: 'up to 30.0 µs (75 %) less per call',
      basis: 'estimated',
      code: "torch.compile(fn, mode='reduce-overhead')",
      variant: '',
      requested: variant({ mode: 'reduce-overhead' }),
      study: '',
      trial: '',
      place: '',
      lines: [],
      view: 'verdict',
      compilation: '',
      of: ''
    },
    {
      what: 'Use the C++ wrapper',
      why: '',
      gain: '1.25× faster than the Python wrapper',
      basis: 'measured',
      code: '',
      variant: 'cpp',
      requested: null,
      study: '',
      trial: '',
      place: '',
      lines: [],
      view: 'timings',
      compilation: '',
      of: ''
    },
    {
      what: 'Avoid 2 recompiles (x.size(0): 8 → 12)',
      why: '',
      gain: 'costs 4.00 s of compile time',
      basis: 'measured',
      code: 'torch._dynamo.mark_dynamic(batch, 0)',
      variant: '',
      requested: variant({ dynamic: true }),
      study: '',
      trial: 'dynamic=True',
      place: 'before the call (cell line 13)',
      lines: [],
      view: 'recompiles',
      compilation: '0/2',
      of: 'in the cell'
    }
  ],
  counts: [
    counted('breaks', 2, '2 graph breaks'),
    counted('recompiles', 3, '3 recompiles in the cell', 'in the cell'),
    { ...counted('guards', 88, '88 guards'), warning: false }
  ]
};

export class Model extends ViewModel {
  showVariant = jest.fn();
  startMeasure = jest.fn(() => Promise.resolve());
}

export const BUILT = [
  // What the cell compiled as it ran: there is no call of it to measure.
  variantSummary('in the cell', {}, { stage: 'built', recorded: true }),
  variantSummary('eager', { backend: null }, { stage: 'built' }),
  variantSummary('python', {}, { stage: 'built' }),
  variantSummary('cpp', { cpp_wrapper: true }, { stage: 'built' })
];

/**
 * A page that draws the Overview of a report with what `BUILT` names.
 */
export function overviewStage() {
  const page = stage();
  const model = new Model();
  model.report = report('f', { variants: BUILT });
  const onTry = jest.fn();

  return {
    ...page,
    model,
    onTry,
    drawOverview: (change: Partial<Overview>, context = contextOf(model)) => {
      page.draw(
        <OverviewBody
          overview={overview(change)}
          context={context}
          onTry={onTry}
        />
      );
      return context;
    },
    texts: (selector: string) =>
      page.all(selector).map(element => element.textContent)
  };
}
