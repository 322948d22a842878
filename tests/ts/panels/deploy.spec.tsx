import * as React from 'react';
import type { IChartTheme } from '../../../src/charts';
import type { ITradeOff } from '../../../src/panels/common/tradeOffs';
import { firstCallAgainstLatency } from '../../../src/panels/common/tradeOffs';
import { DeployPart } from '../../../src/panels/sweep/deploy/part';
import type {
  DeployWay,
  StudyChoice,
  VariantReport
} from '../../../src/protocol/types';
import { job, report, variantSummary } from '../support/fakes';
import { speedup } from '../support/measured';
import { variantReport } from '../support/structs';
import { contextOf, drawn, HOSTILE, stage, ViewModel } from '../support/views';

jest.mock('../../../src/charts/plotly', () => ({
  ...jest.requireActual('../../../src/charts/plotly'),
  loadPlotly: () => new Promise(() => undefined)
}));

describe('DeployPart', () => {
  let page: ReturnType<typeof stage>;
  let model: ViewModel;

  beforeEach(() => {
    page = stage();
    model = new ViewModel();
  });

  afterEach(() => page.remove());

  const show = (variants: readonly VariantReport[] = []) =>
    page.draw(
      <DeployPart
        variants={variants}
        runOn={{ executors: [], executor: '', choose: jest.fn() }}
        context={contextOf(model)}
      />
    );

  it('measures ways to deploy where it is asked for', () => {
    model.report = { ...report('f'), variants: [variantSummary('python')] };
    show();
    expect(page.text()).toContain('Wrappers, modes, blocks compiled once');
    page.click(page.button('Measure'));
    expect(model.startStudies).toHaveBeenCalledWith(['deploy'], ['python'], {
      executor: ''
    });
  });

  it('leaves the step of a running study to the strip above the view', () => {
    model.report = { ...report('f'), variants: [variantSummary('python')] };
    model.job = job({ kind: 'study', state: 'running', step: 'way 2 of 4' });
    show();
    expect(page.text()).toContain('The Jupyter kernel is busy.');
    expect(page.text()).not.toContain('way 2 of 4');
  });

  it('starts a study while a job works in another process', () => {
    model.report = { ...report('f'), variants: [variantSummary('python')] };
    model.job = job({ state: 'running', aside: true });
    show();
    expect(page.text()).not.toContain('busy');
    page.click(page.button('Measure'));
    expect(model.startStudies).toHaveBeenCalledTimes(1);
  });

  it('measures only the ways that are ticked, and says how many and how long', async () => {
    model.report = { ...report('f'), variants: [variantSummary('python')] };
    const choice = (name: string, change: Partial<StudyChoice> = {}) => ({
      ...{ name, title: '', why: '', estimate_s: null, is_least: true },
      ...change
    });
    model.getStudyChoices.mockResolvedValue({
      ways: [
        choice('eager'),
        choice('torch.compile', { estimate_s: 47, is_least: false }),
        choice('reduce-overhead', { why: 'Its CUDA graphs need a GPU.' }),
        choice('C++ wrapper', { estimate_s: 48 })
      ]
    });
    const tick = (name: string) =>
      page
        .all('.jp-Compilescope-studyOption label')
        .find(element => element.textContent === name)!;
    const state = () =>
      page.all('.jp-Compilescope-waysSelection')[0].textContent;
    show();
    await drawn();
    expect(model.getStudyChoices).toHaveBeenCalledWith('deploy', 'python');
    expect(state()).toContain('3 of 3 ways, estimated: at least 1 min 30 s');
    expect(tick('reduce-overhead').title).toBe('Its CUDA graphs need a GPU.');
    expect(tick('reduce-overhead').querySelector('input')!.disabled).toBe(true);
    page.click(page.button('Measure'));
    expect(model.startStudies).toHaveBeenLastCalledWith(
      ['deploy'],
      ['python'],
      { executor: '' }
    );
    page.click(page.button('None'));
    expect(page.text()).toContain('Select at least one way.');
    page.click(tick('torch.compile').querySelector('input')!);
    expect(state()).toContain(
      '1 of 3 ways, about 50 s if as fast as last time'
    );
    page.click(page.button('Measure'));
    expect(model.startStudies).toHaveBeenLastCalledWith(
      ['deploy'],
      ['python'],
      { selected: { ways: ['torch.compile'] }, executor: '' }
    );
    page.click(page.button('All'));
    expect(state()).toContain('3 of 3 ways');
  });

  it('shows the ways to deploy, what each gives up, and the code of one', () => {
    model.isLive = false;
    show([
      variantReport('python', {
        best_way: `Balanced: torch.compile. ${HOSTILE}`,
        ways_not_tried: ['C++ wrapper', 'AOTInductor'],
        ways_remarks: [`As shipped, the compiler runs again. ${HOSTILE}`],
        ways: [
          way('eager', { cold_s: 0.01, first_s: 0.01, call_us: 90 }),
          way('torch.compile', {
            cold_s: 20,
            cached_s: 2,
            shipped_s: 3,
            first_s: 3,
            ship_bytes: 2048,
            call_us: 50,
            eager_us: 91,
            speedup: speedup('faster', '1.82× faster'),
            memory_bytes: 2 ** 30,
            as_eager: true,
            restrictions: ['compiles again'],
            best_for: ['latency', 'cold', 'balanced'],
            paste_code: 'compiled = torch.compile(model)'
          }),
          way('no guards', {
            cold_s: 19,
            first_s: 19,
            call_us: 49,
            as_eager: false,
            safe: false,
            comparison: 'n differs.',
            shipped_why: 'It cannot be saved.',
            paste_code: `skip_guards("${HOSTILE}")`
          }),
          way('AOTInductor', { why: `It takes a module. ${HOSTILE}` })
        ]
      })
    ]);
    expect(page.text()).toContain(`Balanced: torch.compile. ${HOSTILE}`);
    expect(page.text()).toContain('Not tried: C++ wrapper, AOTInductor.');
    expect(page.text()).toContain(
      `As shipped, the compiler runs again. ${HOSTILE}`
    );
    const cells = page
      .all('.jp-mod-ways tbody tr')
      .map(element => [...element.children].map(cell => cell.textContent));
    expect(cells[1]).toEqual([
      'torch.compile',
      '20.0 s',
      '2.00 s',
      '3.00 s2.00 KiB',
      '50.0 µs1.82× faster',
      '1.00 GiB',
      '✓ yes',
      'compiles again'
    ]);
    expect(cells[2][6]).toBe('✗ no');
    expect(cells[2][7]).toContain('n differs.');
    expect(cells[3]).toEqual(['AOTInductor', `It takes a module. ${HOSTILE}`]);
    expect(page.all('pre')[0].textContent).toBe(
      'compiled = torch.compile(model)'
    );
    page.click(page.button('no guards'));
    expect(page.all('pre')[0].textContent).toBe(`skip_guards("${HOSTILE}")`);
    expect(page.all('img')).toEqual([]);
    expect(() => page.button('Measure')).toThrow();
  });
});

it('names dominated points too where there is room', () => {
  const { trans } = contextOf(new ViewModel());
  const theme = { series: ['blue', 'red'] } as unknown as IChartTheme;
  const points: ITradeOff[] = ['front', 'dominated'].map((name, place) => ({
    ...{ id: name, name, series: '', hover: '', isBest: false, isRight: true },
    firstCall: 1 + 30 * place,
    latency: 1 + place,
    isFront: place === 0
  }));
  const namesOf = (tradeOffs: readonly ITradeOff[]) => {
    const make = firstCallAgainstLatency(tradeOffs, null, trans);
    const { layout } = make(theme, { width: 600, height: 280 });
    return (layout!.annotations as { text: string }[]).map(({ text }) => text);
  };
  expect(namesOf(points)).toEqual(['front', 'dominated']);
  // Of several series only the best.
  const other = { ...points[0], id: 'other', series: 'b', latency: 9 };
  expect(namesOf([...points, other])).not.toContain('dominated');
});

it('places names off the line through the best points', () => {
  const { trans } = contextOf(new ViewModel());
  const theme = { series: ['blue'] } as unknown as IChartTheme;
  const point = (name: string, firstCall: number, latency: number) => ({
    ...{ id: name, name, series: '', hover: '', isBest: false, isRight: true },
    ...{ firstCall, latency, isFront: name !== 'dominated' }
  });
  // The line arrives just above "later", from its left.
  const make = firstCallAgainstLatency(
    [point('first', 1, 1.15), point('later', 5, 1), point('dominated', 3, 3)],
    null,
    trans
  );
  const { layout } = make(theme, { width: 600, height: 280 });
  const names = layout!.annotations as { text: string; yshift: number }[];
  expect(names.map(({ text, yshift }) => [text, Math.sign(yshift)])).toEqual([
    ['first', 1],
    ['later', -1],
    ['dominated', 1]
  ]);
});

function way(name: string, change: Partial<DeployWay>): DeployWay {
  return {
    name,
    title: '',
    code: '',
    ship_code: '',
    load_code: '',
    contexts: [],
    process_settings: [],
    paste_code: '',
    cold_s: null,
    cached_s: null,
    shipped_s: null,
    first_s: null,
    call_us: null,
    call_interval_us: null,
    eager_us: null,
    speedup: null,
    settled: true,
    relative: null,
    memory_bytes: null,
    ships: [],
    ship_bytes: null,
    accurate: null,
    shipped_accurate: null,
    as_eager: null,
    comparison: '',
    restrictions: [],
    safe: true,
    is_pareto: false,
    best_for: [],
    took_s: null,
    machine: '',
    why: '',
    shipped_why: '',
    problem: null,
    ...change
  };
}
