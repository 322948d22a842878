import * as React from 'react';
import { CompileTimeBody } from '../../../../src/panels/compile-time/body';
import { exportTrace } from '../../../../src/panels/compile-time/export';
import { waterfall } from '../../../../src/panels/compile-time/timeline/lanes';
import {
  spanAtPoint,
  layOutLanes
} from '../../../../src/panels/compile-time/timeline/layout';
import { kernelPhases } from '../../../../src/panels/compile-time/timeline/loadPhases';
import {
  figuresOf,
  laneTitle,
  figuresAsSentence
} from '../../../../src/panels/compile-time/phrases';
import type { ITrace } from '../../../../src/panels/compile-time/chromeTrace';
import { CompileTimeView } from '../../../../src/panels/compile-time/view';
import type {
  Compilation,
  KernelLoad,
  LoadSpan,
  Phase,
  VariantReport
} from '../../../../src/protocol/types';
import { job } from '../../support/fakes';
import { fullCompilation, variantReport } from '../../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../../support/views';

function phase(
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

const COLD = phase('frame', 0, 2e6, {
  self_us: 0,
  children: [
    phase('trace', 0, 5e5),
    phase('g++', 5e5, 1.5e6, { kind: 'cpp_build', detail: 'main.cpp' })
  ]
});
const BUILT = variantReport('python', {
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
const ONE = fullCompilation({
  phases: [COLD],
  phase_times: BUILT.compile_time!.kinds,
  warm_phase_times: BUILT.warm_compile_time!.kinds,
  warm_phases: [phase('frame', 0, 2e5)],
  cache: [{ cache: 'FX graph', outcome: 'miss', key: 'abc', detail: '' }],
  warm_cache: [{ cache: 'FX graph', outcome: 'hit', key: 'abc', detail: '' }]
});

const LOAD: KernelLoad = {
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

describe('spanAtPoint', () => {
  const chart = waterfall([ONE], ['cold', 'warm'], 'time');
  const layout = layOutLanes(chart);
  const [cold, warm] = layout.boxes;
  const at = (moment: number, y: number) =>
    spanAtPoint(chart, layout, moment, y, 1e3);

  it('finds the span of a row', () => {
    expect(at(1e5, cold.rows + 1)).toEqual({ lane: 0, span: 0 });
    expect(at(1e5, cold.rows + 19)).toEqual({ lane: 0, span: 1 });
    expect(at(1e6, cold.rows + 19)).toEqual({ lane: 0, span: 2 });
    expect(at(1e5, warm.rows + 1)).toEqual({ lane: 1, span: 0 });
  });

  it('means a near one, and nothing far from all', () => {
    expect(at(202e3, warm.rows + 1)).toEqual({ lane: 1, span: 0 });
    expect(at(1e6, warm.rows + 1)).toBeNull();
    expect(at(1e5, cold.top + 1)).toBeNull();
    expect(at(1e5, 9999)).toBeNull();
  });

  it('finds one of a hundred thousand at once', () => {
    const many = fullCompilation({
      phases: Array.from({ length: 1e5 }, (_, n) => phase(`p${n}`, n * 10, 9))
    });
    const big = waterfall([many], ['cold'], 'time');
    const layout = layOutLanes(big);
    const begin = process.cpuUsage();
    for (let n = 0; n < 1000; n++) {
      const target = spanAtPoint(
        big,
        layout,
        n * 100 + 4,
        layout.boxes[0].rows,
        0.1
      );
      expect(target?.span).toBe(n * 10);
    }
    // Microseconds of the processor, however busy the machine is.
    expect(process.cpuUsage(begin).user).toBeLessThan(1e6);
  });
});

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
      'one launch of the generated kernel: 20.0 µs'
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
      '0/0 · kernels, first call · one launch of each of 2 generated kernels: 150 µs',
      '0/0 · kernels, a later call · one launch of the generated kernel: 12.0 µs',
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

describe('exportTrace', () => {
  it('offers a file with a name that is none of the user’s making', () => {
    const model = new ViewModel();
    model.report!.subject.name = `../${HOSTILE}`;
    const { filename, text } = exportTrace(BUILT, [ONE], contextOf(model));
    expect(filename).toMatch(/^compile-[\w.-]+-python\.trace\.json$/);
    const trace = JSON.parse(text);
    expect(trace.otherData).toMatchObject({
      variant: 'python',
      first_call_s: 2.5
    });
    expect(trace.traceEvents.length).toBeGreaterThan(4);
  });

  it('names the threads of kernels by their call', () => {
    const span = (step: LoadSpan['step'], background: boolean) => ({
      ...{ step, start_us: 9, us: 5, background }
    });
    const spans = [
      span('compile', true),
      span('first_run', false),
      span('later_run', false)
    ];
    const variant = { ...BUILT, kernel_loads: [{ ...LOAD, spans }] };
    const { text } = exportTrace(variant, [ONE], contextOf(new ViewModel()));
    const { traceEvents }: ITrace = JSON.parse(text);
    const named = traceEvents
      .filter(({ name }) => /^(process|thread)_name$/.test(name))
      .map(({ pid, args }) => [pid, args.name]);
    expect(named).toEqual([
      [1, 'python, cold'],
      [1, '0/0, main thread'],
      [1, '0/0, kernels, first call, main thread'],
      [1, '0/0, kernels, first call, in parallel, 1'],
      [2, 'python, warm'],
      [2, '0/0, main thread'],
      [3, 'python, a later call'],
      [3, '0/0, kernels, a later call, main thread']
    ]);
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
