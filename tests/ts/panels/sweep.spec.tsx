import { Signal } from '@lumino/signaling';
import * as React from 'react';
import { NO_CHOICES } from '../../../src/model/variants';
import { SweepBody } from '../../../src/panels/sweep/body';
import { parseOptions } from '../../../src/panels/sweep/options';
import { paretoOf } from '../../../src/panels/sweep/pareto';
import type { IForm } from '../../../src/panels/sweep/plan';
import { durationOf, firstForm, planOf } from '../../../src/panels/sweep/plan';
import { rowsOf } from '../../../src/panels/sweep/rows';
import { SweepView } from '../../../src/panels/sweep/view';
import type {
  Choices,
  Sweep,
  VariantReport
} from '../../../src/protocol/types';
import type { ISweepOptions } from '../../../src/interfaces/sweeping';
import type { IChartTheme } from '../../../src/charts';
import { report, variantSummary } from '../support/fakes';
import { speedup, timing } from '../support/measured';
import { variantReport } from '../support/structs';
import { cell, done, sweep } from '../support/swept';
import { contextOf, HOSTILE, stage, ViewModel } from '../support/views';

jest.mock('../../../src/charts/plotly', () => ({
  ...jest.requireActual('../../../src/charts/plotly'),
  loadPlotly: () => new Promise(() => undefined)
}));

const { trans } = contextOf(new ViewModel());
const MODES = ['default', 'reduce-overhead', 'max-autotune-no-cudagraphs'];
const form = (change: Partial<IForm> = {}) => ({
  ...firstForm(MODES),
  ...change
});

describe('SweepView', () => {
  it('asks no kernel for the comparison of a report from before a restart', async () => {
    const model = Object.assign(new ViewModel(), {
      sweep: null,
      loadSweep: jest.fn(() => Promise.resolve()),
      sweepChanged: new Signal<object, void>({})
    });
    const view = new SweepView(contextOf(model));
    await view['load']();
    expect(model.loadSweep).toHaveBeenCalledTimes(1);
    Object.assign(model, { isKept: true, isLive: false });
    await view['load']();
    expect(model.loadSweep).toHaveBeenCalledTimes(1);
    expect(view['whyEmpty']([])?.why).toContain('is gone');
    // It may have been loaded before the kernel was restarted.
    expect(view['present']([]).props).toMatchObject({
      why: 'The kernel that could make one is gone.'
    });
    expect(view['whyEmpty']([])?.remedy).toBe(
      'Call compilescope.sweep(fn, args) in a notebook, or compilescope.study(report, "deploy") for ways to deploy.'
    );
    Object.assign(model, {
      isKept: false,
      report: { subject: { kind: 'trace' }, trace: {}, variants: [] }
    });
    expect(view['whyEmpty']([])?.remedy).toBe(
      'Call compilescope.sweep(fn, args) in a notebook.'
    );
    await view['load']();
    expect(model.loadSweep).toHaveBeenCalledTimes(1);
    view.dispose();
  });
});

describe('planOf', () => {
  it('is every combination', () => {
    const plan = planOf(
      form({
        dynamics: [null, true],
        options: 'max_fusion_size=8\n\nepilogue_fusion=False',
        shapes: [
          { name: 'small ', args: 'x[:2]' },
          { name: 'large', args: ' x' }
        ]
      }),
      trans
    );
    expect(plan.variants).toHaveLength(2 * 2 * 2 * 3);
    expect(plan.cells).toBe(48);
    expect(plan.product).toBe(
      '2 modes × 2 wrappers × 2 values of dynamic × 3 sets of options × 2 shapes'
    );
    expect(plan.shapes).toEqual({ small: 'x[:2]', large: 'x' });
    expect(plan.variants[1]).toMatchObject({
      mode: null,
      cpp_wrapper: false,
      options: { max_fusion_size: 8 }
    });
    expect(
      new Set(plan.variants.map(variant => JSON.stringify(variant))).size
    ).toBe(24);
  });

  it.each<[Partial<IForm>, RegExp]>([
    [{ modes: [] }, /at least one value/],
    [{ options: 'fast' }, /“fast” is not a setting/],
    [{ shapes: [{ name: 'a', args: '' }] }, /a name and arguments/],
    [
      {
        shapes: [
          { name: 'a', args: 'x' },
          { name: 'b', args: 'x' }
        ]
      },
      /“x” is listed twice/
    ]
  ])('says why %j cannot be started', (change, why) => {
    expect(planOf(form(change), trans).obstacle).toMatch(why);
  });

  it('guesses how long it takes by what cells took', () => {
    expect(durationOf(4, 2, null, [])).toBe(68);
    const slow = [60, 90].map(compile_s =>
      variantSummary('python', {}, { compile_s })
    );
    expect(durationOf(4, 2, null, slow)).toBe(340);
    const known = sweep([done('cpp', 20, 5)], { cell_s: 12 });
    expect(durationOf(4, 2, known, slow)).toBe(48);
  });
});

describe('parseOptions', () => {
  it('reads settings as Python writes them', () => {
    expect(
      parseOptions(`a=1, b.c=False, d='x, y'\n{"e": None, "f": [1, 2]}`, trans)
    ).toEqual([
      { a: 1, 'b.c': false, d: 'x, y' },
      { e: null, f: [1, 2] }
    ]);
  });

  it('takes nothing that it cannot read', () => {
    expect(() => parseOptions('a=f(x)', trans)).toThrow(
      '“f(x)” is not a value'
    );
  });
});

it('plots the front as a line, and only what was measured', () => {
  const shown = sweep(
    [
      done('python', 80, 2),
      done('cpp', 40, 30),
      done('slow', 90, 31),
      done('wrong', 30, 3, { accurate: false }),
      cell('waits')
    ],
    { pareto: ['key of cpp', 'key of python'], winners: { '': 'key of cpp' } }
  );
  const theme = { series: ['blue'], bad: 'red' } as unknown as IChartTheme;
  const { traces, layout } = paretoOf(
    rowsOf(shown),
    null,
    trans
  )(theme, { width: 600, height: 280 }) as unknown as {
    traces: [
      { x: number[]; y: number[] },
      { customdata: string[]; marker: { symbol: string[]; color: string[] } }
    ];
    layout: { xaxis: { type?: string }; yaxis: { type?: string } };
  };
  expect(traces[0]).toMatchObject({ x: [2, 30], y: [80, 40] });
  expect(traces[1].customdata).toHaveLength(4);
  expect(traces[1].marker.symbol).toEqual([
    'circle',
    'star',
    'circle-open',
    'x'
  ]);
  expect(traces[1].marker.color[3]).toBe('red');
  expect([layout.xaxis.type, layout.yaxis.type]).toEqual(['log', undefined]);
});

class Model extends ViewModel {
  choices: Choices = { ...NO_CHOICES, modes: MODES };
  sweep: Sweep | null = null;
  sweepChanged = new Signal<this, void>(this);
  startSweep = jest.fn((_: ISweepOptions) => Promise.resolve());
  cancelSweep = jest.fn(() => Promise.resolve());
}

describe('SweepBody', () => {
  let page: ReturnType<typeof stage>;
  let model: Model;
  let context: ReturnType<typeof contextOf>;

  beforeEach(() => {
    page = stage();
    // jsdom lays nothing out: there would be room for no row.
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
    jest
      .spyOn(HTMLElement.prototype, 'offsetHeight', 'get')
      .mockReturnValue(600);
    model = new Model();
    context = contextOf(model);
  });

  afterEach(() => {
    page.remove();
    jest.restoreAllMocks();
  });

  const show = (
    shown: Sweep | null = null,
    deployed: readonly VariantReport[] = []
  ) => {
    model.sweep = shown;
    page.draw(<SweepBody deployed={deployed} context={{ ...context }} />);
  };
  const box = (name: string) =>
    page
      .all('.jp-Compilescope-sweepForm label, .jp-Compilescope-controls label')
      .find(element => element.textContent === name)!
      .querySelector('input')!;
  const row = (name: string) =>
    page
      .all('[role=row]')
      .find(element => element.textContent?.startsWith(name))!;

  it('opens the form only where there is no result', () => {
    const isOpen = () => page.button('Set up').getAttribute('aria-expanded');
    show();
    expect(isOpen()).toBe('true');
    show(null, [variantReport('python')]);
    expect(isOpen()).toBe('false');
    expect(page.text()).not.toContain('Each cell is one variant');
  });

  it('starts what is ticked, with what is written', () => {
    show();
    expect(page.text()).toContain('4 cells (2 modes × 2 wrappers), about 70 s');
    page.click(box('max-autotune-no-cudagraphs'));
    page.click(box('reuse finished cells'));
    page.click(page.button('Add a shape'));
    expect((page.button('Start') as HTMLButtonElement).disabled).toBe(true);
    const fields = page.all('.jp-Compilescope-shapes input');
    expect(fields.map(element => (element as HTMLInputElement).value)).toEqual([
      'as called',
      'x',
      '',
      ''
    ]);
    page.choose(fields[2], 'half');
    page.choose(fields[3], 'x[:2]');
    page.click(page.button('Start'));
    expect(model.startSweep).toHaveBeenCalledWith({
      variants: [
        expect.objectContaining({ mode: null, cpp_wrapper: false }),
        expect.objectContaining({ mode: null, cpp_wrapper: true })
      ],
      shapes: { 'as called': 'x', half: 'x[:2]' },
      timeout: 300,
      seconds: 2,
      resume: false,
      executor: ''
    });
  });

  it('runs the sweep and the ways to deploy on the executor that is chosen', () => {
    model.report = { ...report('f'), variants: [variantSummary('python')] };
    const places = () =>
      page
        .all('label')
        .filter(element => element.textContent?.startsWith('run on'))
        .map(element => element.querySelector('select')!);
    const executorOfSweep = () => {
      page.click(page.button('Start'));
      const [options] = model.startSweep.mock.lastCall!;
      return options.executor;
    };
    show();
    expect(places()).toEqual([]);
    model.choices = { ...model.choices, executors: ['cluster'] };
    show();
    expect(
      [...places()[0].options].map(({ value, text }) => [value, text])
    ).toEqual([
      ['', 'this machine'],
      ['cluster', 'cluster']
    ]);
    page.choose(places()[0], 'cluster');
    expect(executorOfSweep()).toBe('cluster');
    page.click(page.button('Measure'));
    expect(model.startStudies).toHaveBeenLastCalledWith(
      ['deploy'],
      ['python'],
      { executor: 'cluster' }
    );
    model.choices = { ...model.choices, executors: ['other'] };
    show();
    expect(executorOfSweep()).toBe('');
  });

  it('warns of many cells', () => {
    show();
    page.choose(
      page.all('textarea')[0],
      Array.from({ length: 9 }, (_, i) => `a=${i}`).join('\n')
    );
    expect(page.text()).toContain('40 cells');
    expect(page.text()).toContain('Too many cells');
  });

  it('shows problems in words, and each in full', () => {
    const what = `Its process died. ${HOSTILE}`;
    show(
      sweep([
        cell('cpp', {
          state: 'crashed',
          problem: {
            severity: 'error',
            what,
            why: '',
            remedy: '',
            where: null,
            detail: '',
            facts: {}
          }
        })
      ])
    );
    expect(row('cpp').textContent).toContain('crashed');
    page.click(row('cpp'));
    expect(page.text()).toContain(what);
    expect(page.all('img')).toEqual([]);
  });

  it('can be canceled while it runs, and not be started', () => {
    show(sweep([cell('cpp', { state: 'running', step: 'compiling' })]));
    expect(row('cpp').textContent).toContain('compiling');
    page.click(page.button('Cancel'));
    expect(model.cancelSweep).toHaveBeenCalled();
    expect(() => page.button('Start')).toThrow();
  });

  it('says “no difference” in words, and what is best', () => {
    const same = timing({
      ratio: 1.01,
      ratio_interval: [0.98, 1.04],
      differs: false,
      speedup: speedup('same', 'no difference')
    });
    show(
      sweep([done('python', 99, 2, { timing: same }), done('cpp', 50, 6)], {
        winners: { '': 'key of cpp' },
        pareto: ['key of cpp', 'key of python'],
        codes: { '': 'compiled = torch.compile(f)' }
      })
    );
    expect(row('python').textContent).toContain('no difference');
    expect(row('python').textContent).toContain('Pareto-optimal');
    expect(row('cpp').textContent).toContain('lowest median');
    expect(page.all('pre')[0].textContent).toBe('compiled = torch.compile(f)');
  });

  it('pastes a code for each shape where they differ', () => {
    const at = (name: string, us: number, shape: string) =>
      done(name, us, 2, { shape, key: `${name} ${shape}` });
    show(
      sweep([at('cpp', 10, 'a'), at('python', 20, 'b')], {
        winners: { a: 'cpp a', b: 'python b' },
        codes: { a: 'code of a', b: 'code of b' },
        code: 'code of a',
        overall: 'Over all shapes: cpp'
      })
    );
    expect(page.all('pre').map(element => element.textContent)).toEqual([
      'code of a',
      'code of b'
    ]);
    expect(page.text()).toContain('Over all shapes: cpp');
  });

  it('says that no variant is faster than eager, without code', () => {
    show(
      sweep([done('cpp', 50, 6)], {
        winners: { '': 'key of cpp' },
        overall: 'No variant is clearly faster than eager.'
      })
    );
    expect(page.all('pre')).toHaveLength(0);
    expect(page.text()).toContain('No variant is clearly faster than eager.');
  });

  it('of a file has no form', () => {
    model.isLive = false;
    show(
      sweep([done('cpp', 50, 6)], {
        state: 'done',
        status: '1 cell is done',
        status_detail: 'in 20 s'
      })
    );
    expect(page.text()).toContain('1 cell is donein 20 s');
    expect(page.all('[role=toolbar]')).toEqual([]);
    page.click(row('cpp'));
    expect(() => page.button('Inspect this variant')).toThrow();
  });
});
