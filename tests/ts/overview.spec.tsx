import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import * as React from 'react';
import { act } from 'react';
import { OverviewView } from '../../src/panels/overview';
import { opening } from '../../src/panels/overview/suggestions';
import { OverviewBody } from '../../src/panels/overview/body';
import { resolve, VIEWS } from '../../src/panels/views';
import type { Overview, Result } from '../../src/protocol/types';
import { job, overview, report, variant, variantSummary } from './fakes';
import { speedup } from './measured';
import { contextOf, HOSTILE, stage, ViewModel } from './viewSupport';

function result(name: string, change: Partial<Result> = {}): Result {
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
    ...change
  };
}

const FULL: Partial<Overview> = {
  headline: 'C++ wrapper is fastest: 40.0 µs a call, 2.50× faster than eager.',
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
      text: 'about 11.0 µs per call, limited by launches'
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
      view: 'timings',
      compilation: '',
      of: ''
    },
    {
      what: 'Avoid 2 recompiles: x.size(0) 8 → 12',
      why: '',
      gain: 'saves 4.00 s of compile time',
      basis: 'measured',
      code: 'torch._dynamo.mark_dynamic(batch, 0)',
      variant: '',
      requested: variant({ dynamic: true }),
      study: '',
      trial: 'dynamic=True',
      place: 'before the call (cell:13)',
      view: 'recompiles',
      compilation: '0/2',
      of: 'in the cell'
    }
  ],
  counts: [
    {
      text: '2 graph breaks',
      view: 'breaks',
      number: 2,
      warning: true,
      of: ''
    },
    {
      text: '3 recompiles in the cell',
      view: 'recompiles',
      number: 3,
      warning: true,
      of: 'in the cell'
    },
    { text: '88 guards', view: 'guards', number: 88, warning: false, of: '' }
  ]
};

class Model extends ViewModel {
  showVariant = jest.fn();
  startMeasure = jest.fn(() => Promise.resolve());
}

const BUILT = [
  // What the cell compiled as it ran: there is no call of it to measure.
  variantSummary('in the cell', {}, { stage: 'built', recorded: true }),
  variantSummary('eager', { backend: null }, { stage: 'built' }),
  variantSummary('python', {}, { stage: 'built' }),
  variantSummary('cpp', { cpp_wrapper: true }, { stage: 'built' })
];

it('is the first of the views', () => {
  expect(VIEWS[0].id).toBe('overview');
});

describe('The Overview', () => {
  let page: ReturnType<typeof stage>;
  let model: Model;
  const onTry = jest.fn();

  beforeEach(() => {
    page = stage();
    model = new Model();
    model.report = report('f', { variants: BUILT });
  });

  afterEach(() => page.remove());

  const draw = (change: Partial<Overview>) => {
    const context = contextOf(model);
    page.draw(
      <OverviewBody
        overview={overview(change)}
        context={context}
        onTry={onTry}
      />
    );
    return context;
  };

  const texts = (selector: string) =>
    page.all(selector).map(element => element.textContent);

  it('has no interval of few samples, and says so', () => {
    const few = {
      few: true,
      interval_title: '4 samples: min–max',
      interval: '4 samples: min–max 48.0–52.0 µs'
    };
    draw({ ...FULL, results: [result('python', few)], axis: '0 – 100 µs' });
    const [, latency] = page.all('tbody tr th, tbody tr td');
    expect(latency.textContent).toBe('50.0 µs4 samples: min–max 48.0–52.0 µs');
    expect(page.all('.jp-Compilescope-latency > i')).toEqual([]);
    expect(texts('thead .jp-mod-chart')).toEqual(['0 – 100 µs']);
  });

  it('draws what the kernel says and no figure of its own', () => {
    draw(FULL);
    expect(texts('h2')).toEqual([FULL.headline!.replace(' µs', '\u00a0µs')]);
    const rows = page
      .all('tbody tr')
      .map(row =>
        [...row.querySelectorAll('th, td')].map(element => element.textContent)
      );
    expect(rows).toEqual([
      ['eager', '100 µs', '', '', '', ''],
      [
        'Python wrapper python',
        '20.0–90.0 µs',
        '',
        'too noisy to judge',
        '',
        ''
      ],
      ['C++ wrapper cpp', '40.0 µs', '', '2.50× faster', '12.5 s', '✓']
    ]);
    expect(texts('tr.jp-mod-best th')).toEqual(['C++ wrapper cpp']);
    expect(texts('.jp-mod-up')).toEqual(['2.50× faster']);
    expect(texts('.jp-Compilescope-estimates li')[0]).toContain(
      'Python wrapper on H100 SXM h100 about 11.0 µs per call'
    );
    const bars = page.all('.jp-Compilescope-stackBar > span');
    expect(bars.map(element => element.style.width)).toEqual(['75%', '25%']);
    expect(page.text()).toContain(HOSTILE);
    expect(page.all('img')).toEqual([]);
  });

  it('leads to the view of each fact', () => {
    const context = draw(FULL);
    for (const [text, view] of [
      ['2 graph breaks', 'breaks'],
      ['88 guards', 'guards'],
      ['Step by step', 'wrappers'],
      ['Where the time goes', 'layers'],
      ['100 µs', 'timings'],
      ['20.0–90.0 µs', 'timings'],
      ['2.50× faster', 'timings'],
      ['✓', 'accuracy'],
      ['about 11.0 µs per call, limited by launches', 'targets']
    ]) {
      page.click(page.button(text));
      expect(context.open).toHaveBeenLastCalledWith(view);
      expect(resolve(view)).not.toBeNull();
    }
    expect(model.variant).toBe('python');
    page.click(page.button('12.5 s'));
    expect(context.open).toHaveBeenLastCalledWith('compile-time');
    expect(model.variant).toBe('cpp');
    page.click(page.button('3 recompiles in the cell'));
    expect(context.open).toHaveBeenLastCalledWith('recompiles');
    expect(model.variant).toBe('in the cell');
    page.click(page.button('C++ wrapper'));
    expect(model.showVariant).toHaveBeenCalledWith('cpp');
    expect(context.open).toHaveBeenLastCalledWith('code');
  });

  it('tries what is a setting, and says where other code belongs', () => {
    const context = draw(FULL);
    const [graphs, , size] = FULL.suggestions!;
    page.click(page.button('Try it'));
    expect(onTry).toHaveBeenLastCalledWith(graphs.requested);
    page.click(page.button('Try dynamic=True'));
    expect(onTry).toHaveBeenLastCalledWith(size.requested);
    expect(page.text()).toContain('Paste the code before the call (cell:13).');
    const shown = page
      .all('.jp-Compilescope-do button')
      .filter(element => element.textContent === 'Show');
    page.click(shown[0]);
    expect(context.open).toHaveBeenLastCalledWith('verdict');
    page.click(shown[1]);
    expect(model.showVariant).toHaveBeenLastCalledWith('cpp');
    expect(context.open).toHaveBeenLastCalledWith('changes');
    page.click(shown[2]);
    expect(context.open).toHaveBeenLastCalledWith('recompiles');
    expect([model.variant, model.compilation]).toEqual(['in the cell', '0/2']);
  });

  it('tries by a study what no variant can have', () => {
    const blocks = { ...FULL.suggestions![1], study: 'blocks', of: 'python' };
    draw({ ...FULL, suggestions: [blocks] });
    page.click(page.button('Try it'));
    expect(model.startStudies).toHaveBeenLastCalledWith(['blocks'], ['python']);
    model.isLive = false;
    draw({ ...FULL, suggestions: [blocks] });
    expect(() => page.button('Try it')).toThrow();
  });

  it('offers to add the wrapper that is missing', () => {
    const requested = variant({ cpp_wrapper: true });
    draw({ ...FULL, wrapper: { ...FULL.wrapper!, requested } });
    page.click(page.button('Add the C++ wrapper'));
    expect(onTry).toHaveBeenLastCalledWith(requested);
    model.isLive = false;
    draw({ ...FULL, wrapper: { ...FULL.wrapper!, requested } });
    expect(() => page.button('Add the C++ wrapper')).toThrow();
  });

  const UNTIMED = result('cpp', {
    title: 'C++ wrapper',
    state: 'unmeasured',
    why: 'not measured yet',
    latency_us: null,
    interval_us: null
  });
  const UNKNOWN: Partial<Overview> = {
    wrapper: {
      ...FULL.wrapper!,
      headline: 'Not measured yet.',
      text: 'Both wrappers are generated, but not timed.',
      unbuilt: true,
      remedy: 'cs.measure(report) builds and times them.'
    },
    limit: {
      ...FULL.limit!,
      headline: 'Not measured yet.',
      text: 'The time of a call was not broken down.',
      bound: 'unknown',
      basis: 'unknown',
      parts: [],
      remedy: 'cs.study(report, "layers") breaks it down.'
    }
  };

  it('says what was not measured, and offers to', () => {
    draw({ ...UNKNOWN, results: [result('python'), UNTIMED] });
    expect(page.text()).toContain('not measured yet');
    page.click(page.button('Measure for 10 s'));
    expect(model.startMeasure).toHaveBeenCalledWith({
      variants: ['python', 'cpp'],
      seconds: 10
    });
    page.click(page.button('Break down the time'));
    expect(model.startStudies).toHaveBeenCalledWith(['layers'], ['python']);
    expect(page.text()).not.toContain('cs.');
  });

  it('leads to a breakdown that is too noisy to judge', () => {
    const verdict = {
      bound: 'unclear' as const,
      evidence: '',
      helps: [],
      estimated: false,
      limited_by: 'noisy' as const,
      title: '',
      meaning: ''
    };
    draw(UNKNOWN);
    expect(() => page.button('Where the time goes')).toThrow();
    const variants = BUILT.map(summary => ({ ...summary, verdict }));
    model.report = report('f', { variants });
    const context = draw(UNKNOWN);
    page.click(page.button('Where the time goes'));
    expect(context.open).toHaveBeenLastCalledWith('layers');
  });

  it('shows code in what to change as code, fenced or not', () => {
    const first = FULL.suggestions![0];
    const what =
      'Register it:\n```python\n@op.register_fake\ndef _(x): ...\n```';
    draw({ ...FULL, suggestions: [{ ...first, what, why: 'Use `op`.' }] });
    const [item] = page.all('.jp-Compilescope-overviewWhat');
    expect(item.textContent).not.toContain('`');
    const code = [...item.querySelectorAll('code')].map(
      element => element.textContent
    );
    expect(code).toEqual(['@op.register_fake\ndef _(x): ...', 'op']);
  });

  it('offers to measure for longer where that is undecided', () => {
    const undecided = {
      results: [result('python'), result('cpp')],
      longer_s: 30,
      longer: 'cs.measure(report, seconds=30) times them for longer.'
    };
    draw({ ...FULL, ...undecided });
    page.click(page.button('Measure for 30 s'));
    expect(model.startMeasure).toHaveBeenCalledWith({
      variants: ['python', 'cpp'],
      seconds: 30
    });
    expect(page.text()).not.toContain(undecided.longer);
    model.isLive = false;
    draw({ ...FULL, ...undecided });
    expect(() => page.button('Measure for 30 s')).toThrow();
    expect(page.text()).toContain(undecided.longer);
  });

  it('offers to build where nothing is built, and then says how far that is', () => {
    const unbuilt: Partial<Overview> = {
      ...UNKNOWN,
      results: [UNTIMED],
      limit: { ...UNKNOWN.limit!, unbuilt: true }
    };
    draw(unbuilt);
    expect(page.all('button').map(element => element.textContent)).toEqual([
      'C++ wrapper',
      'Build and time',
      'Step by step'
    ]);
    page.click(page.button('Build and time'));
    expect(model.run).toHaveBeenCalledTimes(1);
    model.job = job({ state: 'running', step: 'building' });
    model.jobSince = Date.now();
    draw(unbuilt);
    expect(() => page.button('Build and time')).toThrow();
    expect(
      texts('.jp-Compilescope-overviewCard .jp-Compilescope-hint')
    ).toEqual(['building… ', 'building… ']);
  });

  it('offers nothing that takes a kernel where there is none, but names the call', () => {
    model.isLive = false;
    for (const results of [[UNTIMED], [result('python'), UNTIMED]]) {
      draw({ ...FULL, ...UNKNOWN, results });
      for (const name of [
        'Try it',
        'Build and time',
        'Measure for 10 s',
        'Break down the time'
      ]) {
        expect(() => page.button(name)).toThrow();
      }
      expect(page.text()).toContain(
        'cs.measure(report) builds and times them.'
      );
      expect(page.text()).toContain(
        'cs.study(report, "layers") breaks it down.'
      );
    }
  });

  it('names no call where the kernel is gone: the cell runs again', () => {
    model.isLive = false;
    const runAgain = { isPossible: () => true, run: jest.fn() };
    page.draw(
      <OverviewBody
        overview={overview({ ...FULL, ...UNKNOWN })}
        context={{ ...contextOf(model), runAgain }}
        onTry={onTry}
      />
    );
    expect(page.text()).not.toContain('cs.');
  });

  it('cuts no reason within a sentence', () => {
    const hint =
      'Set `a.b = True`, e.g. before. Write it. Or report it to torch.';
    expect(opening(hint, 500)).toBe(hint);
    expect(opening(hint, 45)).toBe('Set `a.b = True`, e.g. before. Write it.');
    expect(opening(hint, 3)).toBe('Set `a.b = True`, e.g. before.');
    expect(opening('', 3)).toBe('');
  });
});

describe('OverviewView', () => {
  let model: Model;
  let view: OverviewView;

  beforeEach(() => {
    (globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;
    model = new Model();
    view = new OverviewView(contextOf(model));
    Widget.attach(view, document.body);
  });

  afterEach(() => act(() => view.dispose()));

  const show = (change: Parameters<typeof report>[1]) =>
    act(async () => {
      const { revision } = model.report!;
      model.report = report('f', { ...change, revision: revision + 1 });
      model.reportChanged.emit();
      for (let turn = 0; turn < 5; turn++) {
        await Promise.resolve();
        MessageLoop.flush();
      }
    });

  it('measures what is tried once its code is there', async () => {
    await show({ variants: BUILT, overview: overview(FULL) });
    const requested = FULL.suggestions![0].requested!;
    const button = [...view.node.querySelectorAll('button')].find(
      element => element.textContent === 'Try it'
    )!;
    act(() => button.click());
    expect(model.setRequested).toHaveBeenCalledWith(requested);
    expect(model.startMeasure).not.toHaveBeenCalled();
    model.job = job({ state: 'running' });
    const tried = variantSummary('reduce-overhead', requested);
    const variants = [...BUILT, tried];
    await show({ variants, overview: overview(FULL) });
    expect(model.startMeasure).not.toHaveBeenCalled();
    model.job = job({ state: 'done' });
    await show({ variants, overview: overview(FULL) });
    await show({ variants, overview: overview(FULL) });
    expect(model.startMeasure.mock.calls).toEqual([
      [{ variants: ['python', 'cpp', 'reduce-overhead'], seconds: 5 }]
    ]);
  });

  it('says why a file of an earlier version has none', async () => {
    await show({ variants: BUILT, overview: null });
    expect(view.node.textContent).toContain('saved by an earlier version');
  });
});
