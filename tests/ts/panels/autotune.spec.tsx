import * as React from 'react';
import { AutotuneBody } from '../../../src/panels/autotune/body';
import {
  durationOf,
  gainOf,
  tableOf
} from '../../../src/panels/autotune/choices';
import type { Autotuning, Choice } from '../../../src/protocol/types';
import { report, variantSummary } from '../support/fakes';
import { linked } from '../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../support/views';

function choice(name: string, change: Partial<Choice> = {}): Choice {
  return {
    name,
    kind: 'triton template',
    time_us: null,
    chosen: false,
    config: {},
    why: '',
    ...change
  };
}

function tuning(
  choices: Choice[],
  change: Partial<Autotuning> = {}
): Autotuning {
  return {
    operator: 'mm',
    kind: 'algorithm',
    kernel: 'triton_mm_1',
    inputs: ['float32[8, 8] cuda', 'float32[8, 4] cuda'],
    choices,
    duration_s: 1.5,
    skipped: '',
    ...change
  };
}

const CHOICES = [
  choice('mm', { kind: 'extern', time_us: 12, why: '1.5 times the best' }),
  choice('slow', { time_us: 16, config: { BLOCK_M: '16', BLOCK_K: '32' } }),
  choice('best', {
    time_us: 8,
    chosen: true,
    config: { BLOCK_M: '64', BLOCK_K: '32' }
  }),
  choice('big', { why: 'out of shared memory', config: { BLOCK_M: '128' } })
];

describe('tableOf', () => {
  it('puts the fastest first and what was not measured last', () => {
    const table = tableOf(tuning(CHOICES));
    expect(table.best).toBe(8);
    expect(
      table.candidates.map(({ choice, ratio, bar }) => [
        choice.name,
        ratio,
        bar
      ])
    ).toEqual([
      ['best', 1, 0.5],
      ['mm', 1.5, 0.75],
      ['slow', 2, 1],
      ['big', null, 0]
    ]);
  });

  it('puts what the configurations differ in first', () => {
    const table = tableOf(
      tuning([
        choice('a', { config: { num_warps: '4', BLOCK_M: '16' } }),
        choice('b', { config: { num_warps: '4', BLOCK_M: '32' } })
      ])
    );
    expect(table.columns).toEqual(['BLOCK_M', 'num_warps']);
    expect(table.differing).toBe(1);
    expect(table.best).toBeNull();
  });
});

it('gainOf compares with the best library call', () => {
  expect(gainOf(tuning(CHOICES))).toBe(1.5);
  expect(gainOf(tuning(CHOICES.slice(1)))).toBeNull();
  expect(
    gainOf(tuning([{ ...CHOICES[0], chosen: true }, CHOICES[1]]))
  ).toBeNull();
});

it('durationOf is null where nobody knows', () => {
  expect(durationOf([tuning([]), tuning([], { duration_s: null })])).toBe(1.5);
  expect(durationOf([tuning([], { duration_s: null })])).toBeNull();
});

describe('AutotuneBody', () => {
  let page: ReturnType<typeof stage>;
  let model: ViewModel;
  let context: ReturnType<typeof contextOf>;
  const origin = {};

  beforeEach(() => {
    page = stage();
    model = new ViewModel();
    context = contextOf(model);
  });

  afterEach(() => page.remove());

  const show = (autotunings: Autotuning[], why = '') =>
    page.draw(
      <AutotuneBody
        autotunings={autotunings}
        why={why}
        variant="python"
        context={context}
        origin={origin}
      />
    );
  const rows = () =>
    page
      .all('tbody tr:has(th)')
      .map(row => row.querySelector('th')!.textContent);

  it('lists the candidates of the first one, the chosen one marked in words', () => {
    show([tuning(CHOICES), tuning([], { operator: 'addmm', skipped: 'tiny' })]);
    expect(rows()).toEqual(['✓ chosen: best', 'mm', 'slow', 'big']);
    expect(page.text()).toContain(
      '2 autotunings, 3.00 s spent measuring, 1 skip'
    );
    expect(page.text()).toContain('1.50× faster than the extern kernel');
    // Below its candidate, as wide as the table.
    const reason = page
      .all('tbody tr:not(:has(th))')
      .find(row => row.textContent === 'out of shared memory')!;
    expect(reason.previousElementSibling!.textContent).toContain('big');
    expect(reason.querySelector('td')!.colSpan).toBe(
      page.all('thead tr > *').length
    );
    expect(page.all('.jp-Compilescope-tuningSkipped')[0].textContent).toBe(
      'tiny'
    );
  });

  it('says once why several were skipped, and shows equal ones together', () => {
    const skipped = tuning([choice('addmm')], { skipped: 'tiny' });
    show([
      skipped,
      tuning([choice('mm')], { skipped: 'cached' }),
      { ...skipped, kernel: 'triton_mm_2' },
      { ...skipped, inputs: ['float32[9, 9] cuda'] }
    ]);
    expect(page.text()).toContain('4 autotunings');
    expect(page.text()).toContain('all skipped');
    expect(
      page
        .all('.jp-Compilescope-tuningSkipped')
        .map(({ textContent }) => textContent)
    ).toEqual(['tiny', 'cached']);
    expect(
      page.all('article').map(({ textContent }) => textContent!.includes('× 2'))
    ).toEqual([true, false, false]);
    page.click(page.all('article button')[0]);
    expect(page.button('triton_mm_1')).toBeTruthy();
    expect(page.button('triton_mm_2')).toBeTruthy();
  });

  it('lists the fastest 25 and the chosen one, the others on request', () => {
    const many = Array.from({ length: 60 }, (_, index) =>
      choice(`c${index}`, { time_us: 10 + index, chosen: index === 40 })
    );
    show([tuning(many)]);
    expect(rows()).toHaveLength(26);
    expect(rows()[25]).toContain('c40');
    page.click(page.button('Show all 60'));
    expect(rows()).toHaveLength(60);
  });

  it('filters by text and by kind', () => {
    show([
      tuning(CHOICES),
      tuning([choice('XBLOCK: 8')], { operator: 'sum', kind: 'config' })
    ]);
    const operators = () =>
      page.all('[aria-expanded] code').map(element => element.textContent);
    page.choose(page.all('select')[0], 'config');
    expect(operators()).toEqual(['sum']);
    page.choose(page.all('select')[0], '');
    page.choose(page.all('input[type=search]')[0], 'slow');
    expect(operators()).toEqual(['mm']);
    page.choose(page.all('input[type=search]')[0], 'nothing');
    expect(page.text()).toContain('No autotuned operator matches');
  });

  it('opens the one whose kernel is selected, and goes to the kernel', () => {
    model.linked = linked({ kernels: new Set(['triton_mm_2']) });
    show([
      tuning([]),
      tuning([choice('other', { time_us: 1 })], { kernel: 'triton_mm_2' })
    ]);
    expect(rows()).toEqual(['other']);
    page.click(page.button('triton_mm_2'));
    expect(model.select).toHaveBeenCalledWith({
      kernel: 'triton_mm_2',
      origin
    });
    expect(context.open).toHaveBeenCalledWith('kernels');
  });

  it('says how to have torch tune, and does it', () => {
    show([]);
    expect(page.text()).toContain('compiled in default mode');
    page.click(page.button('Set mode to max-autotune'));
    expect(model.setRequested).toHaveBeenCalledWith({ mode: 'max-autotune' });
  });

  it('offers nothing that a report from a file cannot do', () => {
    model.isLive = false;
    show([]);
    expect(page.text()).toContain('mode="max-autotune"');
    expect(page.all('button')).toEqual([]);
  });

  it('leads to the variant that was tuned', () => {
    const tuned = variantSummary('tuned', {}, { filled: ['autotunings'] });
    model.report = report('f', { variants: [variantSummary('python'), tuned] });
    show([]);
    expect(page.text()).not.toContain('Set it in the call');
    page.click(page.button(/Show the autotunings of tuned/));
    expect(model.variant).toBe('tuned');
  });

  it('says that tuning comes with the build', () => {
    model.report = report('f', {
      variants: [variantSummary('python', { mode: 'max-autotune' })]
    });
    show([]);
    expect(page.text()).toContain('torch autotunes when it builds');
    page.click(page.button('Build and time'));
    expect(model.run).toHaveBeenCalled();
  });

  it('shows names as text', () => {
    show([
      tuning(
        [choice(HOSTILE, { why: HOSTILE, config: { [HOSTILE]: HOSTILE } })],
        { operator: HOSTILE, kernel: HOSTILE, inputs: [HOSTILE] }
      )
    ]);
    expect(page.all('img')).toEqual([]);
    expect(page.text().split(HOSTILE).length - 1).toBeGreaterThanOrEqual(7);
  });
});
