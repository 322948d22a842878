import { Signal } from '@lumino/signaling';
import * as React from 'react';
import type {
  Measurement,
  VariantReport
} from '../../../../src/protocol/types';
import { TimingsBody } from '../../../../src/panels/timings/body';
import { job, report, variantSummary } from '../../support/fakes';
import {
  measurement,
  samples,
  series,
  speedup,
  timing
} from '../../support/measured';
import { variantReport } from '../../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../../support/views';

jest.mock('../../../../src/charts/plotly', () => ({
  ...jest.requireActual('../../../../src/charts/plotly'),
  loadPlotly: () => new Promise(() => undefined)
}));

class Model extends ViewModel {
  measurement: Measurement | null = null;
  measurementChanged = new Signal<this, void>(this);
  startMeasure = jest.fn(() => Promise.resolve());
  showVariant = jest.fn();
}

const eager = (change: Partial<VariantReport> = {}) => {
  const variant = variantReport('eager', { stage: 'built', ...change });
  return { ...variant, requested: { ...variant.requested, backend: null } };
};

const full = (name: string, change: Partial<VariantReport> = {}) =>
  variantReport(name, {
    stage: 'built',
    layers: [],
    verdict: null,
    startups: [],
    paybacks: [],
    first_wrong_kernel: null,
    studied: [],
    ...change
  });

describe('The Timings view', () => {
  let page: ReturnType<typeof stage>;
  let model: Model;

  beforeEach(() => {
    page = stage();
    model = new Model();
  });

  afterEach(() => page.remove());

  const draw = (
    variants: readonly VariantReport[],
    section: { name: string } | null = null
  ) => {
    const context = contextOf(model);
    page.draw(
      <TimingsBody
        variants={variants.map(variant => full(variant.name, variant))}
        measurement={model.measurement}
        context={context}
        origin={page}
        section={section}
      />
    );
    return context;
  };

  const plain = () => draw([eager(), full('python'), full('cpp')]);

  const cells = (name: string) => {
    const row = page
      .all('table tbody tr')
      .find(element =>
        element.querySelector('th')?.textContent?.startsWith(name)
      );
    return [...(row?.querySelectorAll('td') ?? [])].map(
      cell => cell.textContent
    );
  };

  const measured = (change: Partial<Measurement> = {}) =>
    measurement({
      rounds: 1312,
      series: [
        series('eager', {
          samples_us: samples(1, 312, 30),
          median_us: 30,
          interval_us: [29, 31],
          interval: '4 samples: min–max 29.0–31.0 µs',
          few: true
        }),
        series('cpp', {
          samples_us: samples(2, 312, 20),
          median_us: 21.7,
          interval_us: [21, 22],
          interval: '21.0–22.0 µs',
          ratio: 1.38,
          ratio_interval: [1.35, 1.41],
          differs: true,
          speedup: speedup('faster', '1.38× faster'),
          calls_per_sample: 24,
          warmup_calls: 310
        })
      ],
      ...change
    });

  it('starts with what is ticked, for as long as is chosen', () => {
    plain();
    expect(page.text()).toContain('Nothing measured yet');
    page.click(page.all('fieldset input')[1]);
    page.choose(page.all('select')[0], '30');
    page.click(page.button('Start'));
    expect(model.startMeasure).toHaveBeenCalledWith({
      variants: ['eager', 'cpp'],
      seconds: 30,
      restart: false
    });
  });

  it('says how it stands, pauses, goes on and begins anew', () => {
    model.job = job({ kind: 'measure', state: 'running' });
    model.measurement = measured({ fraction: 0.25 });
    plain();
    const status = () => page.all('[role=status]')[0].textContent;
    expect(status()).toBe('Measuring');
    expect(page.text()).toContain('1,312 rounds');
    expect(page.all('progress')[0].getAttribute('value')).toBe('0.25');
    page.click(page.button('Pause'));
    expect(model.cancel).toHaveBeenCalledTimes(1);
    model.job = job({ kind: 'measure', state: 'cancelled' });
    model.measurement = measured({ state: 'paused' });
    plain();
    expect(status()).toBe('Paused after 1,312 rounds');
    page.click(page.button('Resume'));
    page.click(page.button('Restart'));
    expect(
      model.startMeasure.mock.calls.map(
        call => (call as { restart: boolean }[])[0].restart
      )
    ).toEqual([false, true]);
    // Without one of them the kernel begins anew.
    page.click(page.all('fieldset input')[2]);
    expect(page.button('Start')).toBeTruthy();
  });

  it('says that the kernel is busy', () => {
    model.job = job({ kind: 'measure', state: 'queued' });
    plain();
    expect(page.text()).toContain('Kernel busy, queued');
    model.job = job({ kind: 'build', state: 'running', step: 'building C++' });
    plain();
    expect(page.text()).toContain('The Jupyter kernel is busy: building C++');
    expect((page.button('Start') as HTMLButtonElement).disabled).toBe(true);
  });

  it('can start while a job works in another process', () => {
    model.job = job({ state: 'running', aside: true });
    plain();
    expect(page.text()).not.toContain('busy');
    expect((page.button('Start') as HTMLButtonElement).disabled).toBe(false);
  });

  it('has a variant that appears join once, while others are measured', () => {
    model.job = job({ kind: 'measure', state: 'running' });
    model.measurement = measured();
    plain();
    expect(model.startMeasure).not.toHaveBeenCalled();
    model.report = report('f', {
      variants: [...report('f').variants, variantSummary('new')]
    });
    plain();
    plain();
    expect(model.startMeasure).toHaveBeenCalledTimes(1);
    expect(model.startMeasure).toHaveBeenCalledWith({
      variants: ['eager', 'python', 'cpp', 'new'],
      seconds: 10,
      restart: false
    });
  });

  it('holds in a table what the plots show', () => {
    model.measurement = measured();
    const changes = ['net.bn.running_mean'];
    draw([
      eager(),
      full('cpp', { timing: timing({ initial_state: 'restored', changes }) })
    ]);
    expect(cells('cpp')).toEqual([
      '21.7 µs',
      '21.0–22.0 µs',
      '1.38× faster',
      '312',
      '24',
      '310'
    ]);
    expect(cells('eager').slice(1, 3)).toEqual([
      '4 samples: min–max 29.0–31.0 µs',
      'baseline'
    ]);
    expect(page.text()).toContain(
      'state restored before every sample: net.bn.running_mean'
    );
    const labels = page
      .all('[role=img]')
      .map(element => element.getAttribute('aria-label'));
    expect(labels).toHaveLength(2);
    expect(labels[0]).toContain('cpp: 1.38× faster');
  });

  it('ticks the log box where the axis is logarithmic by itself', () => {
    const box = () => {
      const label = page
        .all('label')
        .find(element => element.textContent === 'Log scale');
      return label!.querySelector('input')!;
    };
    const { series: all, ...rest } = measured();
    model.measurement = { ...rest, series: all };
    plain();
    expect(box().checked).toBe(false);
    const far = { ...all[1], samples_us: samples(2, 312, 2000) };
    model.measurement = { ...rest, series: [all[0], far] };
    plain();
    expect(box().checked).toBe(true);
    page.click(box());
    expect(box().checked).toBe(false);
  });

  it.each([
    ['same', 'no difference', 'jp-Compilescope-muted'],
    ['slower', '1.25× slower', 'jp-mod-down'],
    ['noisy', 'too noisy to judge', 'jp-Compilescope-muted']
  ] as const)('says it as the kernel does: %s', (standing, words, tone) => {
    const { series: all, ...rest } = measured();
    const cpp = { ...all[1], speedup: speedup(standing, words) };
    model.measurement = { ...rest, series: [all[0], cpp] };
    plain();
    expect(cells('cpp')[2]).toBe(words);
    expect(page.all(`td.${tone}`).map(element => element.textContent)).toEqual([
      words
    ]);
  });

  it('goes to the part that was asked for, each time it is', () => {
    plain();
    const [body] = page.all('.jp-Compilescope-parts');
    const [part] = page.all('.jp-mod-accuracy');
    const at = (top: number) => ({ top }) as DOMRect;
    body.getBoundingClientRect = () => at(100);
    part.getBoundingClientRect = () => at(700 - body.scrollTop);
    const variants = [eager(), full('python'), full('cpp')];
    draw(variants, { name: 'accuracy' });
    expect(body.scrollTop).toBe(600);
    body.scrollTop = 20;
    plain();
    expect(body.scrollTop).toBe(20);
    draw(variants, { name: 'accuracy' });
    expect(body.scrollTop).toBe(600);
    draw(variants, { name: 'timings' });
    expect(body.scrollTop).toBe(600);
  });

  it('checks the sum of the layers, and says why it is off', () => {
    const layer = (kind: 'guards' | 'kernels', us: number, share: number) => ({
      kind,
      us,
      share,
      interval_us: null,
      compilation: '',
      how: `how ${kind}`,
      device_us: null
    });
    draw([
      full('cpp', {
        layers: [
          {
            direction: 'backward',
            whole_us: 24.7,
            whole_interval_us: null,
            layers: [layer('guards', 4, 0.16), layer('kernels', 16, 0.65)],
            kinds: [
              { kind: 'guards', us: 4, share: 0.16 },
              { kind: 'kernels', us: 16, share: 0.65 }
            ],
            sum_us: 20,
            sum_share: 0.81,
            agrees: false,
            why: 'The engine’s thread.',
            device: 'cpu'
          }
        ]
      })
    ]);
    const [stack] = page.all('[role=listitem]');
    expect(stack.textContent).toContain('cpp · backward');
    expect(stack.textContent).toContain('sum 20.0 µs of 24.7 µs');
    expect(stack.textContent).toContain('The engine’s thread.');
    expect(cells('Dynamo entry')).toEqual(['4.00 µs', '16 %']);
    expect(
      page.all('table tfoot tr:first-child td').map(cell => cell.textContent)
    ).toEqual(['20.0 µs', '81 %']);
    expect(page.all('details dd').map(element => element.textContent)).toEqual([
      'how guards',
      'how kernels'
    ]);
  });

  it('gives a verdict, what helps, and what that brought', () => {
    const context = draw([
      full('python', {
        verdict: {
          bound: 'cpu',
          evidence: `60 % is overhead. ${HOSTILE}`,
          helps: [
            {
              what: 'C++ wrapper',
              why: '',
              code: 'torch.compile(f)',
              variant: 'cpp',
              ratio: 1.4,
              ratio_interval: [1.3, 1.5],
              speedup: speedup('faster', '1.40× faster', { over: 'python' }),
              requested: null,
              place: ''
            },
            {
              what: 'CUDA graphs',
              why: '',
              code: '',
              variant: '',
              ratio: null,
              ratio_interval: null,
              speedup: null,
              requested: null,
              place: ''
            }
          ],
          estimated: false,
          limited_by: 'overhead',
          title: 'overhead-bound',
          meaning: ''
        }
      })
    ]);
    expect(page.text()).toContain('overhead-bound');
    expect(page.text()).not.toContain('launch-');
    expect(page.text()).toContain(HOSTILE);
    expect(page.all('img')).toEqual([]);
    const [first, second] = page.all('.jp-Compilescope-helps > li');
    expect(first.textContent).toContain('measured: 1.40× faster');
    expect(second.textContent).toContain('not measured here');
    page.click(page.button('Show the variant cpp'));
    expect(context.model.showVariant).toHaveBeenCalledWith('cpp');
  });

  it('tells after how many calls compiling has paid', () => {
    draw([
      full('cpp', {
        paybacks: [
          {
            cache: 'cold',
            compile_s: 8.4,
            saved_us: 9.4,
            calls: 893616.2,
            text: 'pays for itself after about 890,000 calls'
          }
        ],
        startups: [
          {
            cache: 'cold',
            precompiled_headers: false,
            first_call_s: 11.2,
            parts: { dynamo: 0.6, cpp_build: 8.5 },
            headers_s: null,
            imports_s: 3,
            memory_bytes: null,
            problem: null
          }
        ]
      }),
      full('slow', {
        paybacks: [
          {
            cache: 'cold',
            compile_s: 8,
            saved_us: -4,
            calls: null,
            text: 'never pays for itself: it saves nothing per call'
          },
          { cache: 'warm', compile_s: 1, saved_us: -4, calls: null, text: '' }
        ]
      })
    ]);
    expect(
      page.all('.jp-Compilescope-paybacks li').map(item => item.textContent)
    ).toEqual([
      'cpp pays for itself after about 890,000 calls',
      'slow never pays for itself: it saves nothing per call'
    ]);
    expect(cells('cpp').slice(0, 3)).toEqual(['cold', 'plain', '11.2 s']);
  });

  it('leads to the first kernel that departs', () => {
    const error = {
      path: 'output',
      dtype: 'float32',
      max_abs: 0.031,
      max_rel: 0.2,
      tolerance_abs: 1e-5,
      tolerance_rel: 1e-6,
      ok: false,
      reference: 'eager in float64',
      reference_abs: 0.03,
      eager_reference_abs: 1.2e-7,
      other_rounding_abs: null
    };
    const context = draw([
      full('cpp', {
        accuracy: [error],
        first_wrong_kernel: {
          compilation: '0/0',
          kernel: 'cpp_fused_gelu_1',
          key: 'k1',
          buffer: 'buf2',
          node: 'gelu',
          error,
          how: ''
        }
      })
    ]);
    expect(cells('cpp')).toEqual([
      'output',
      'float32',
      '✗ no',
      '0.031',
      '1.0e-05 + 1.0e-06 of it',
      '0.030',
      '1.2e-07'
    ]);
    page.click(page.button('cpp_fused_gelu_1'));
    expect(model.variant).toBe('cpp');
    expect(model.select).toHaveBeenCalledWith({
      key: 'k1',
      kernel: 'cpp_fused_gelu_1',
      node: { stage: 'post_grad', name: 'gelu' },
      origin: page
    });
    expect(context.open).toHaveBeenCalledWith('code');
  });

  it('starts studies of what is built and ticked, or says why not', () => {
    draw([eager(), full('python', { stage: 'sources' }), full('cpp')]);
    page.click(page.button('Break down the time'));
    expect(model.startStudies).toHaveBeenCalledWith(['layers'], ['cpp']);
    draw([eager(), full('python', { stage: 'sources' })]);
    expect(
      (page.button('Break down the time') as HTMLButtonElement).disabled
    ).toBe(true);
    expect(page.text()).toContain('No selected variant is built yet');
  });

  it('says that all variants failed, instead of asking to build them', () => {
    const failed = variantSummary('python', {}, { stage: 'failed' });
    model.report = report('f', { variants: [failed] });
    draw([eager(), full('python', { stage: 'failed' })]);
    expect(page.text()).toContain('All variants failed: the Overview says why');
    expect(page.text()).not.toMatch(/is built yet|Select a variant/);
  });

  it('offers no breakdown where every call recompiles, and no empty verdict', () => {
    const always = timing({ recompiles: 'self.calls' });
    draw([eager(), full('cpp', { timing: always })]);
    expect(page.text()).not.toContain('Break down the time');
    expect(page.text()).not.toContain('Verdict');
    draw([eager(), full('cpp', { timing: always }), full('python')]);
    page.click(page.button('Break down the time'));
    expect(model.startStudies).toHaveBeenCalledWith(['layers'], ['python']);
  });

  it('only shows, where there is no kernel', () => {
    model.isLive = false;
    draw([
      eager({ timing: timing({ median_us: 30, samples_us: [30, 31] }) }),
      full('cpp', { timing: timing({ median_us: 20, samples_us: [20, 21] }) })
    ]);
    expect(page.all('button')).toEqual([]);
    expect(page.text()).toContain('Measured in 2 rounds, after the build');
  });
});
