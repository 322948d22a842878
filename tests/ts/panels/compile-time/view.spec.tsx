import * as React from 'react';
import { CompileTimeBody } from '../../../../src/panels/compile-time/body';
import { exportTrace } from '../../../../src/panels/compile-time/export';
import { waterfall } from '../../../../src/panels/compile-time/timeline/lanes';
import { kernelPhases } from '../../../../src/panels/compile-time/timeline/loadPhases';
import {
  figuresOf,
  laneTitle,
  figuresAsSentence
} from '../../../../src/panels/compile-time/phrases';
import { CompileTimeView } from '../../../../src/panels/compile-time/view';
import type {
  Compilation,
  LoadSpan,
  VariantReport
} from '../../../../src/protocol/types';
import { job } from '../../support/fakes';
import { fullCompilation } from '../../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../../support/views';
import { BUILT, COLD, LOAD, ONE, phase } from './compilations';

describe('CompileTimeBody', () => {
  let page: ReturnType<typeof stage>;
  let model: ViewModel;
  let context: ReturnType<typeof contextOf>;

  beforeEach(() => {
    page = stage();
    model = new ViewModel();
    context = contextOf(model);
    // jsdom paints nothing.
    jest.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
  });

  afterEach(() => {
    page.remove();
    jest.restoreAllMocks();
  });

  const show = (
    compilations: Compilation[] = [ONE],
    variant: VariantReport = BUILT,
    omitted = 0
  ) =>
    page.draw(
      <CompileTimeBody
        data={{ variant, compilations, omitted }}
        compilation="0/0"
        context={context}
      />
    );
  const rows = (table: Element) =>
    [...table.querySelectorAll('tr')].map(row =>
      [...row.querySelectorAll('th, td')].map(cell => cell.textContent)
    );

  it('says what the first call took, and the compiler’s part apart', () => {
    show();
    expect(page.text()).toContain('First call: 2.50 s with cold caches');
    expect(page.text()).toContain('250 ms with warm caches');
    expect(page.text()).toContain(
      'C++ compiler: cold 1.50 s (60 %); warm none'
    );
  });

  it('sums to the whole, cold and warm', () => {
    show();
    expect(rows(page.all('table')[0])).toEqual([
      ['Kind', 'cold', 'share', 'warm', 'share'],
      ['Dynamo', '500 ms', '20 %', '200 ms', '80 %'],
      ['C++ build', '1.50 s', '60 %', '–', ''],
      ['outside torch’s phases', '500 ms', '20 %', '50.0 ms', '20 %'],
      ['total', '2.50 s', '100 %', '250 ms', '100 %']
    ]);
  });

  it('names hits and misses', () => {
    show();
    expect(rows(page.all('table')[1]).slice(1)).toEqual([
      ['FX graph', 'miss', '0/0 cold', 'abc'],
      ['FX graph', 'hit', '0/0 warm', 'abc']
    ]);
  });

  it('calls nothing cold that met the caches as they were', () => {
    const one = { ...ONE, warm_phases: [], warm_cache: [] };
    const variant = { ...BUILT, recorded: true, compile_time: null };
    show([one], { ...variant, warm_compile_time: null });
    expect(page.text()).toContain('C++ compiler: 1.50 s');
    expect(page.text()).not.toContain('Not measured with warm caches');
    expect(rows(page.all('table')[0])[0]).toEqual([
      'Kind',
      'as it ran',
      'share'
    ]);
    expect(rows(page.all('table')[1])[1]).toContain('0/0 as it ran');
    const { text } = exportTrace(variant, [one], context);
    expect(text).toContain('python, as it ran');
    expect(text).not.toContain('python, cold');
  });

  it('is walked by keys, and says where one is', () => {
    show();
    const tree = page.all('[role=tree]')[0];
    page.press(tree, 'Home');
    page.press(tree, 'ArrowDown');
    page.press(tree, 'ArrowRight');
    const item = page.all('[role=treeitem]')[0];
    expect(item.id).toBe(tree.getAttribute('aria-activedescendant'));
    expect(item.textContent).toBe(
      'g++, main.cpp; C++ build; Duration 1.50 s (75 %); Self 1.50 s; ' +
        'Starts at 500 ms; Compilation 0/0, cold'
    );
    expect(item.getAttribute('aria-level')).toBe('2');
    expect(item.getAttribute('aria-posinset')).toBe('2');
    page.press(tree, 'Escape');
    expect(page.all('[role=treeitem]')).toEqual([]);
  });

  it('shows one compilation, or all, and says what is left out', () => {
    const two = fullCompilation({
      id: '0/1',
      phases: [phase('again', 9, 1e6)]
    });
    show([ONE, two], BUILT, 7);
    expect(page.text()).toContain('pick one of 7 others');
    expect(page.text()).toContain('total2.50 s');
    page.choose(page.all('select')[0], 'one');
    expect(page.text()).toContain('total2.00 s');
  });

  it('says when only sources were made, and offers to build', () => {
    show([ONE], { ...BUILT, stage: 'sources', compile_time: null });
    expect(page.text()).toContain('The code was generated but not built');
    page.click(page.button('Build and time'));
    expect(model.run).toHaveBeenCalled();
  });

  it('says why there is no warm run, and what is known without phases', () => {
    show([{ ...ONE, phases: [], warm_phases: [] }], {
      ...BUILT,
      warm_compile_time: null,
      absent: { warm_compile_time: 'The second call failed.' }
    });
    expect(page.text()).toContain('The second call failed.');
    expect(page.text()).toContain('torch logged no phases');
    expect(page.text()).toContain('Dynamo500 ms');
  });

  it('shows of an earlier file the parts and no self times', () => {
    const phases = [{ ...COLD, self_us: null }];
    show([{ ...ONE, phases, phase_times: [], warm_phases: [] }], {
      ...BUILT,
      compile_time: { ...BUILT.compile_time!, kinds: [], outside_s: 0 }
    });
    expect(page.text()).toContain('Dynamo500 ms');
    expect(page.text()).not.toContain('By kind of phase');
    page.press(page.all('[role=tree]')[0], 'Home');
    expect(page.all('[role=treeitem]')[0].textContent).not.toContain('Self');
  });

  it('shows kernel by kernel what came before its first run', () => {
    show([ONE], {
      ...BUILT,
      kernel_loads: [
        LOAD,
        {
          ...LOAD,
          ...{ kernel: HOSTILE, when: 'first_launch' as const },
          ...{ compile_us: null, cached: true }
        }
      ]
    });
    const [own, other] = page
      .all('.jp-mod-loads tbody tr')
      .map(row => row.textContent);
    expect(own).toBe('fused_0 0/0in the background2.00 s500 µs–120 µs12.0 µs');
    expect(other).toContain('at its first launchcached');
    expect(other).toContain(HOSTILE);
  });

  it('draws kernels below the phases, those of a later call apart', () => {
    const span = (step: LoadSpan['step'], start_us: number, us: number) => ({
      ...{ step, start_us, us, background: step === 'compile' }
    });
    const kernel_loads = [
      {
        ...LOAD,
        spans: [
          span('compile', 6e5, 1e6),
          span('load', 1.7e6, 500),
          span('first_run', 2.1e6, 120),
          span('later_run', 3, 12)
        ]
      }
    ];
    // jsdom lays nothing out: there would be room for no row.
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
    jest.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(300);
    show([ONE], { ...BUILT, kernel_loads });
    const asTable = page
      .all('label')
      .find(element => element.textContent === 'As a table')!;
    page.click(asTable.querySelector('input')!);
    const said = page
      .all('.jp-Compilescope-tableRow')
      .map(row => row.textContent ?? '')
      .filter(text => text.startsWith('fused_0'));
    expect(said).toEqual([
      'fused_0 compiled1.00 s1.00 s',
      'fused_0 loaded500 µs500 µs',
      'fused_0 first run120 µs120 µs',
      'fused_0 later run12.0 µs12.0 µs'
    ]);
    // They are the same work as the phases: the sums know nothing of them.
    expect(page.text()).toContain('C++ build1.50 s60 %');
  });

  it('puts what is done within a first run into its bar', () => {
    const { trans } = contextOf(new ViewModel());
    const span = (step: LoadSpan['step'], start_us: number, us: number) => ({
      ...{ step, start_us, us, background: false }
    });
    const spans = [
      span('load', 10, 5),
      span('first_run', 100, 60),
      span('autotune', 110, 40)
    ];
    const kernels = kernelPhases([{ ...LOAD, first_run_us: 20, spans }]);
    const [, lane] = waterfall([ONE], ['cold'], 'time', kernels).lanes;
    expect(
      lane.flame.spans.map(({ kind, self, row }) => [kind, self, row])
    ).toEqual([
      ['load', 5, 0],
      ['first_run', 20, 0],
      ['autotune', 40, 1]
    ]);
    expect(laneTitle(lane, trans)).toContain(
      '20.0 µs for one launch of the generated kernel'
    );
  });

  it('says of a kernel’s bar what it is, and in which call', () => {
    const chart = waterfall([ONE], ['cold', 'warm'], 'time', [
      {
        compilation: '0/0',
        first: [
          phase('k', 2.1e6, 120, { kind: 'first_run', detail: 'run' }),
          phase('l', 2.10002e6, 30, { kind: 'first_run', detail: 'run' })
        ],
        later: [phase('k', 0, 12, { kind: 'later_run' })]
      },
      { compilation: '', first: [phase('x', 9, 1, { track: 1 })], later: [] }
    ]);
    const { trans } = contextOf(new ViewModel());
    expect(chart.total).toBe(2.1e6 + 120);
    expect(chart.lanes.map(lane => laneTitle(lane, trans))).toEqual([
      '0/0 · cold · 2.00 s',
      '0/0 · kernels, first call · 150 µs for one launch of each of 2 generated kernels',
      '0/0 · kernels, a later call · 12.0 µs for one launch of the generated kernel',
      '0/0 · warm · 200 ms',
      'kernels, first call'
    ]);
    const said = (lane: number) =>
      figuresAsSentence(figuresOf(chart, { lane, span: 0 }, trans)!);
    expect(said(1)).toBe(
      'k, run; first run of a kernel; Duration 120 µs; Starts at 2.10 s; Compilation 0/0, cold'
    );
    expect(said(2)).toContain('Compilation 0/0, a later call');
    expect(said(4)).toContain('Thread in parallel, 1');
  });

  it('shows names as text', () => {
    const hostile = fullCompilation({
      phases: [phase(HOSTILE, 0, 10, { detail: HOSTILE })],
      cache: [{ cache: HOSTILE, outcome: 'hit', key: HOSTILE, detail: HOSTILE }]
    });
    show([hostile]);
    page.press(page.all('[role=tree]')[0], 'Home');
    expect(page.all('img')).toEqual([]);
    expect(page.text().split(HOSTILE).length - 1).toBeGreaterThanOrEqual(7);
  });
});

describe('CompileTimeView', () => {
  it('offers to build only where the variant can be built', () => {
    const model = new ViewModel();
    const view = new CompileTimeView(contextOf(model));
    const remedy = (change: Partial<VariantReport> = {}) => {
      const empty = view['whyEmpty']({
        variant: { ...BUILT, compile_time: null, ...change },
        compilations: [],
        omitted: 0
      })!;
      const { remedy } = empty;
      return typeof remedy === 'function' ? remedy() : remedy;
    };
    expect(remedy()).toContain('Build and time');
    model.job = job({ state: 'running', subject: model.subject });
    expect(remedy()).toBe('It appears here when the build is done.');
    model.job = job({ state: 'cancelled', subject: model.subject });
    expect(remedy()).toContain('Build and time');
    const requested = { ...BUILT.requested, target: 'h100' };
    expect(remedy({ requested })).toBeUndefined();
    model.isLive = false;
    expect(remedy()).toBeUndefined();
    view.dispose();
  });

  it('asks for the phases of the compilations that took longest', async () => {
    const model = new ViewModel();
    const outlines = Array.from({ length: 130 }, (_, n) =>
      fullCompilation({ id: `0/${n}`, duration_s: n })
    );
    model.getVariant.mockResolvedValue({ ...BUILT, compilations: outlines });
    model.getCompilation.mockImplementation((_: string, id: string) =>
      Promise.resolve({ ...ONE, id })
    );
    const view = new CompileTimeView(contextOf(model));
    const { compilations, omitted } = await view['load']({
      subject: 'f',
      variant: 'python',
      compilation: ''
    });
    const ids = compilations.map(({ id }) => id);
    expect(ids).toHaveLength(101);
    expect(ids[0]).toBe('0/0');
    expect(ids[1]).toBe('0/30');
    expect(omitted).toBe(29);
    const reload = jest.spyOn(view as never, 'reload');
    model.compilation = '0/99';
    model.compilationChanged.emit();
    expect(reload).not.toHaveBeenCalled();
    model.compilation = '0/7';
    model.compilationChanged.emit();
    expect(reload).toHaveBeenCalledTimes(1);
    view.dispose();
  });
});
