import * as React from 'react';
import { RequestedBody } from '../../../src/panels/requested/body';
import { configOf, settingsOf } from '../../../src/panels/requested/settings';
import type {
  Effective,
  Route,
  VariantReport
} from '../../../src/protocol/types';
import { counted, overview, report, settle } from '../support/fakes';
import { fullCompilation, kernelOf, variantReport } from '../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../support/views';

function effective(
  setting: string,
  requested: string,
  actual: string,
  change: Partial<Effective> = {}
): Effective {
  return {
    setting,
    requested,
    actual,
    why: '',
    differs: requested !== actual,
    remedy: '',
    code: '',
    trial: null,
    operators: [],
    where: null,
    ...change
  };
}

function route(operator: string, change: Partial<Route> = {}): Route {
  return {
    operator,
    registered: 'torch',
    artifact: 'cpp',
    direction: 'inference',
    via: 'python',
    way: 'function',
    lines: [34],
    gil: 1,
    us: null,
    interval_us: null,
    how: '',
    why: '',
    remedy: '',
    where: null,
    ...change
  };
}

const GRAPHS = effective('CUDA graphs', 'on', 'off', {
  why: 'skipped: `primals_1` is on the CPU',
  remedy: 'Ask for another mode:\n```python\ntorch.compile(f)\n```',
  operators: ['aten.nonzero']
});
const PYTHON = variantReport('python', {
  effective: [effective('backend', 'inductor', 'inductor'), GRAPHS],
  config: { 'triton.unique_kernel_names': 'False' }
});
const CPP = variantReport('cpp', {
  effective: [
    effective('backend', 'inductor', 'inductor'),
    GRAPHS,
    effective('mix-order reduction', 'on', 'off', { why: 'not in C++' })
  ],
  config: { cpp_wrapper: 'True' },
  compilations: [fullCompilation()]
});

describe('settingsOf', () => {
  it('puts variants side by side, what differs first', () => {
    const settings = settingsOf([PYTHON, CPP]);
    expect(
      settings.map(({ setting, differs, cells }) => [
        setting,
        differs,
        cells.map(cell => cell?.actual ?? null)
      ])
    ).toEqual([
      ['CUDA graphs', true, ['off', 'off']],
      ['mix-order reduction', true, [null, 'off']],
      ['backend', false, ['inductor', 'inductor']]
    ]);
  });

  it('keeps a setting that is listed twice', () => {
    const twice = variantReport('x', {
      effective: [
        effective('fusion', 'on', 'off', { why: 'a' }),
        effective('fusion', 'on', 'off', { why: 'b' })
      ]
    });
    expect(settingsOf([twice])).toHaveLength(2);
  });
});

it('configOf lists what differs from the defaults in any variant', () => {
  expect(configOf([PYTHON, CPP])).toEqual([
    { name: 'cpp_wrapper', values: [null, 'True'] },
    { name: 'triton.unique_kernel_names', values: ['False', null] }
  ]);
});

describe('RequestedBody', () => {
  let page: ReturnType<typeof stage>;
  let model: ViewModel;
  let context: ReturnType<typeof contextOf>;

  beforeEach(() => {
    page = stage();
    model = new ViewModel();
    context = contextOf(model);
    model.getCompilation.mockResolvedValue(fullCompilation());
  });

  afterEach(() => page.remove());

  const show = async (variants: VariantReport[]) => {
    page.draw(<RequestedBody variants={variants} context={context} />);
    await React.act(settle);
  };
  const cards = () =>
    page.all('.jp-Compilescope-deviation').map(element => element.textContent!);

  it('says first what is not as requested: why, and what to change', async () => {
    const text = '2 settings not in effect: cudagraphs, max_autotune';
    model.report = report('f', {
      overview: overview({ counts: [counted('requested', 2, text)] })
    });
    await show([PYTHON, CPP]);
    expect(page.all('h3')[0].textContent).toBe(text);
    expect(cards()).toHaveLength(2);
    expect(cards()[0]).toContain('all variants');
    expect(cards()[0]).toContain('skipped: primals_1 is on the CPU');
    expect(cards()[0]).toContain('aten.nonzero');
    expect(cards()[1]).toContain('cpp');
    const code = page.all('.jp-Compilescope-deviation pre')[0];
    expect(code.textContent).toBe('torch.compile(f)');
  });

  it('shows the code of a remedy once, in full', async () => {
    const code =
      'torch._inductor.config.freezing = True\nwith torch.no_grad():\n    compiled(x)';
    const freezing = effective('freezing', 'on', 'off', {
      remedy: 'Call it in a block `with torch.no_grad():`.',
      code
    });
    await show([variantReport('python', { effective: [freezing] })]);
    const blocks = page.all('.jp-Compilescope-remedy pre');
    expect(blocks.map(({ textContent }) => textContent)).toEqual([code]);
  });

  it('says in words which cell of the table differs', async () => {
    await show([PYTHON, CPP]);
    const row = page.all('table')[0].querySelectorAll('tbody tr')[0];
    expect(row.querySelector('td')!.textContent).toBe(
      'not as requested: on off'
    );
  });

  it('says when all is as requested', async () => {
    await show([
      variantReport('python', { effective: [effective('a', 'on', 'on')] })
    ]);
    expect(page.text()).toContain('All settings are in effect as requested');
    expect(page.text()).toContain(
      'None: the wrappers launch generated kernels only'
    );
    expect(page.text()).toContain('has its defaults');
  });

  it('does not say that there are none, where kernels are extern', async () => {
    model.getCompilation.mockResolvedValue(
      fullCompilation({
        kernels: [kernelOf('extern_kernels.addmm', { language: 'extern' })]
      })
    );
    await show([CPP]);
    expect(page.text()).toContain('does not say how they are called');
    expect(page.text()).not.toContain('generated kernels only');
  });

  it('says why nothing is known', async () => {
    await show([
      variantReport('python', { absent: { effective: 'It is not built.' } })
    ]);
    expect(page.text()).toContain('python: It is not built.');
  });

  it('leads to the lines that call operators through Python', async () => {
    model.getCompilation.mockResolvedValue(
      fullCompilation({
        routes: [
          route('mylib.rotate', { lines: [34, 57], why: 'no shim' }),
          route('mylib.back', { direction: 'backward', lines: [9] })
        ]
      })
    );
    await show([CPP]);
    expect(model.getCompilation).toHaveBeenCalledWith('cpp', '0/0', [
      'crossings'
    ]);
    expect(page.text()).toContain('no shim');
    page.click(page.button('57'));
    const text = { variant: 'cpp', compilation: '0/0' };
    expect(model.select).toHaveBeenLastCalledWith({
      text: { ...text, artifact: 'cpp', line: 57 }
    });
    expect(context.open).toHaveBeenCalledWith('code');
    page.click(page.button('9'));
    expect(model.select).toHaveBeenLastCalledWith({
      text: { ...text, artifact: 'backward.cpp', line: 9 }
    });
  });

  it('shows the ways to operators, what somebody wrote first', async () => {
    const matmul = route('aten::mm', {
      direction: 'backward',
      via: 'shim',
      way: 'shim',
      lines: [7],
      gil: 0
    });
    const own = route('mine::scale', {
      ...{ registered: 'python', direction: 'backward', lines: [7], us: 4.5 },
      ...{ via: 'dispatcher', way: 'dispatcher_python' },
      why: 'It is written in Python.'
    });
    model.getCompilation.mockResolvedValue(
      fullCompilation({ routes: [matmul, own] })
    );
    await show([CPP]);
    const rows = page
      .all('.jp-mod-routes tbody tr')
      .map(row => row.textContent);
    expect(rows[0]).toBe(
      'mine::scalecpp 0/0 backwardPython dispatcher, into Python14.50 µs7It is written in Python.'
    );
    expect(rows[1]).toContain('aten::mm');
    page.click(page.all('.jp-mod-routes tbody button')[0]);
    expect(model.select).toHaveBeenCalledWith({
      text: {
        variant: 'cpp',
        compilation: '0/0',
        artifact: 'backward.cpp',
        line: 7
      }
    });
    expect(context.open).toHaveBeenCalledWith('code');
  });

  it('has a way once that several compilations share', async () => {
    model.getCompilation.mockImplementation((_variant, compilation) =>
      Promise.resolve(
        fullCompilation({
          routes: [
            route('aten::mm', {
              lines: compilation === '0/0' ? [131, 140] : [134],
              why: 'It calls the binding.'
            })
          ]
        })
      )
    );
    await show([
      variantReport('python', {
        compilations: [
          fullCompilation({ id: '0/0' }),
          fullCompilation({ id: '0/1' })
        ]
      })
    ]);
    const rows = page.all('.jp-mod-routes tbody tr');
    expect(rows).toHaveLength(1);
    expect(rows[0].textContent).toContain('python 0/0, 0/1');
    expect(rows[0].textContent).toContain('0/0: 1311400/1: 134It calls');
    page.click(page.button('134'));
    expect(model.select).toHaveBeenLastCalledWith({
      text: {
        ...{ variant: 'python', compilation: '0/1' },
        ...{ artifact: 'cpp', line: 134 }
      }
    });
  });

  it('says when the operators’ calls cannot be read', async () => {
    model.getCompilation.mockRejectedValue(new Error('the kernel died'));
    await show([CPP]);
    expect(page.text()).toContain('the kernel died');
    expect(page.text()).toContain('CUDA graphs');
  });

  it('shows names as text', async () => {
    model.getCompilation.mockResolvedValue(
      fullCompilation({
        routes: [route(HOSTILE, { why: HOSTILE, remedy: HOSTILE })]
      })
    );
    await show([
      variantReport(HOSTILE, {
        effective: [
          effective(HOSTILE, HOSTILE, HOSTILE, {
            differs: true,
            why: HOSTILE,
            remedy: `\`${HOSTILE}\``,
            operators: [HOSTILE]
          })
        ],
        config: { [HOSTILE]: HOSTILE },
        compilations: [fullCompilation()]
      })
    ]);
    expect(page.all('img')).toEqual([]);
    expect(page.text().split(HOSTILE).length - 1).toBeGreaterThanOrEqual(12);
  });
});
