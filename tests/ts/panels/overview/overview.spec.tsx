import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { act } from 'react';
import { OverviewView } from '../../../../src/panels/overview';
import { resolve, VIEWS } from '../../../../src/panels/views';
import { problem } from '../../../../src/protocol/client';
import { job, overview, report, variantSummary } from '../../support/fakes';
import { BUILT, FULL, Model, overviewStage, result } from './overviewSupport';
import { contextOf, HOSTILE } from '../../support/views';

it('is the first of the views', () => {
  expect(VIEWS[0].id).toBe('overview');
});

describe('The Overview', () => {
  let page: ReturnType<typeof overviewStage>;

  beforeEach(() => {
    page = overviewStage();
  });

  afterEach(() => page.remove());

  it('has no interval of few samples, and says so', () => {
    const few = {
      few: true,
      interval_title: '4 samples: min–max',
      interval: '4 samples: min–max 48.0–52.0 µs'
    };
    page.drawOverview({
      ...FULL,
      results: [result('python', few)],
      axis: '0 – 100 µs'
    });
    const [, latency] = page.all('tbody tr th, tbody tr td');
    expect(latency.textContent).toBe('50.0 µs4 samples: min–max 48.0–52.0 µs');
    expect(page.all('.jp-Compilescope-latency > i')).toEqual([]);
    expect(page.texts('thead .jp-mod-chart')).toEqual(['0 – 100 µs']);
  });

  it('draws the range that it shows in place of a median', () => {
    page.drawOverview(FULL);
    const [bar] = page.all('.jp-mod-noisy .jp-mod-chart span > span');
    expect([bar.style.left, bar.style.width]).toEqual(['20%', '70%']);
    expect(page.all('.jp-mod-noisy .jp-mod-chart i')).toEqual([]);
  });

  it('says why all variants failed once, and leads to the line', () => {
    const failed = { state: 'failed', latency_us: null } as const;
    const failure = problem({
      what: 'The operator mylib.double failed on fake tensors.',
      why: 'It has no fake implementation.',
      remedy: 'Register one.',
      where: { file: '/tmp/f.py', line: 8, function: 'f', code: 'double(x)' }
    });
    const results = [result('python', failed), result('cpp', failed)];
    page.drawOverview({ ...FULL, failure, results });
    expect(page.texts('header + .jp-Compilescope-problem p')).toEqual([
      failure.what,
      failure.why,
      failure.remedy,
      'f.py:8 double(x)'
    ]);
    expect(page.texts('.jp-mod-why')).toEqual(['failed', 'failed']);
    page.click(page.button('f.py:8'));
    expect(page.model.select).toHaveBeenCalledWith({
      source: { file: '/tmp/f.py', line: 8 },
      origin: null
    });
    page.drawOverview({
      ...FULL,
      results: [result('cpp', { ...failed, why: 'No compiler.' })]
    });
    expect(page.texts('.jp-mod-why')).toEqual(['failed: No compiler.']);
  });

  it('draws what the kernel says and no figure of its own', () => {
    page.drawOverview(FULL);
    expect(page.texts('h2')).toEqual([
      FULL.headline!.replace(' µs', '\u00a0µs')
    ]);
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
    expect(page.texts('tr.jp-mod-best th')).toEqual(['C++ wrapper cpp']);
    expect(page.texts('.jp-mod-up')).toEqual(['2.50× faster']);
    expect(page.texts('.jp-Compilescope-estimates li')[0]).toContain(
      'Python wrapper on H100 SXM h100 ≥ 11.0 µs a call'
    );
    const bars = page.all('.jp-Compilescope-stackBar > span');
    expect(bars.map(element => element.style.width)).toEqual(['75%', '25%']);
    expect(page.text()).toContain(HOSTILE);
    expect(page.all('img')).toEqual([]);
  });

  it('leads to the view of each fact', () => {
    const context = page.drawOverview(FULL);
    for (const [text, view] of [
      ['2 graph breaks', 'breaks'],
      ['88 guards', 'guards'],
      ['Step by step', 'wrappers'],
      ['Where the time goes', 'layers'],
      ['100 µs', 'timings'],
      ['20.0–90.0 µs', 'timings'],
      ['2.50× faster', 'timings'],
      ['✓', 'accuracy'],
      ['≥ 11.0 µs a call, limited by launches', 'targets']
    ]) {
      page.click(page.button(text));
      expect(context.open).toHaveBeenLastCalledWith(view);
      expect(resolve(view)).not.toBeNull();
    }
    expect(page.model.variant).toBe('python');
    page.click(page.button('12.5 s'));
    expect(context.open).toHaveBeenLastCalledWith('compile-time');
    expect(page.model.variant).toBe('cpp');
    page.click(page.button('3 recompiles in the cell'));
    expect(context.open).toHaveBeenLastCalledWith('recompiles');
    expect(page.model.variant).toBe('in the cell');
    page.click(page.button('C++ wrapper'));
    expect(page.model.showVariant).toHaveBeenCalledWith('cpp');
    expect(context.open).toHaveBeenLastCalledWith('code');
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
