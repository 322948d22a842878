import * as React from 'react';
import { KernelsBody } from '../../../src/panels/kernels/body';
import { operatorsText } from '../../../src/panels/kernels/operators';
import { resourceText, sumText } from '../../../src/panels/kernels/phrases';
import {
  artifactOf,
  filtered,
  rowsOf,
  totalsOf
} from '../../../src/panels/kernels/rows';
import { wrapperName } from '../../../src/model/wrappers';
import type {
  Descriptor,
  Kernel,
  KernelTime,
  Launch,
  SourceLine
} from '../../../src/protocol/types';
import { artifact } from '../support/code';
import { report, variantSummary } from '../support/fakes';
import {
  compilationSummary,
  kernelOf,
  linked,
  selection
} from '../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../support/views';

function launch(
  artifact: Launch['artifact'],
  line: number,
  change: Partial<Launch> = {}
): Launch {
  return {
    artifact,
    variant: artifact,
    line,
    end: line,
    key: `launch:${line}`,
    text: `k(${line})`,
    estimated_bytes: 2048,
    estimated_operations: 512,
    time: null,
    estimated_us: null,
    estimated_bound: '',
    estimated_launch_us: null,
    least_us: null,
    least_bound: '',
    estimate: '',
    ...change
  };
}

const at = (file: string, line: number): SourceLine => ({
  file,
  line,
  function: 'f',
  code: 'x @ y'
});

const RELU = kernelOf('cpp_fused_relu_0', {
  direction: 'forward',
  ops: ['aten.relu'],
  launches: [launch('python', 12), launch('cpp', 30), launch('python', 15)],
  sources: [at('cell.py', 3), at('lib.py', 99), at('cell.py', 3)],
  grid: 'x0 < 4096',
  estimated_bytes: 2048,
  estimated_operations: 512
});
const RELU_BACK: Kernel = { ...RELU, direction: 'backward', launches: [] };
const MM = kernelOf('extern_kernels.mm', {
  language: 'extern',
  launches: [
    launch('python', 20, { estimated_bytes: null, estimated_operations: null })
  ],
  absent: { estimated_operations: 'The sizes are dynamic.' }
});

const KERNEL_TIME: KernelTime = {
  us: 12,
  launches: 1,
  bytes_per_s: 8.2e9,
  operations_per_s: null,
  peak: 'memory',
  peak_share: 0.42,
  text: '12.0 µs (10.8–13.2 µs), measured over 50 calls\nBy the profiler.'
};

it('operatorsText puts first what takes the time', () => {
  expect(
    operatorsText([
      'aten.unsqueeze.default',
      'aten.mul.Tensor',
      'aten.convolution.default',
      'aten.mul.Scalar',
      'mine.twice.default',
      'prims.convert_element_type.default'
    ])
  ).toBe(
    'convolution, mul, mine.twice.default, convert_element_type, unsqueeze'
  );
});

describe('rowsOf', () => {
  const rows = rowsOf([RELU, RELU_BACK, MM], 'python', '0/0', {
    'cell.py': ''
  });

  it('tells kernels of one name apart and counts own launches', () => {
    expect(rows.map(({ id, launches: own }) => [id, own.length])).toEqual([
      ['0/0 forward.cpp_fused_relu_0', 2],
      ['0/0 backward.cpp_fused_relu_0', 0],
      ['0/0 inference.extern_kernels.mm', 1]
    ]);
    const twice = rowsOf([MM, MM], 'python', '0/0', {});
    expect(new Set(twice.map(({ id }) => id)).size).toBe(2);
  });

  it('lists each line once, those of the notebook first', () => {
    expect(rows[0].sources.map(({ file, line }) => `${file}:${line}`)).toEqual([
      'cell.py:3',
      'lib.py:99'
    ]);
  });

  it('begins with the line itself, not with what called it', () => {
    const lines = [3, 20].map(line => ({ ...RELU.sources[0], line }));
    const [row] = rowsOf([{ ...RELU, sources: lines }], 'python', '0/0', {});
    expect(row.sources.map(({ line }) => line)).toEqual([3, 20]);
  });

  it('reckons no intensity without both estimates', () => {
    expect(rows.map(({ intensity }) => intensity)).toEqual([0.25, 0.25, null]);
  });

  it('sums up launches of different sizes, so that rows add up', () => {
    const bytes = (line: number, estimated_bytes: number | null) =>
      launch('python', line, { estimated_bytes });
    const addmm = kernelOf('extern_kernels.addmm', {
      launches: [bytes(1, 1024), bytes(2, 3072), bytes(3, null)],
      absent: { estimated_bytes: 'Not all launches are alike.' }
    });
    const all = rowsOf([RELU, addmm, RELU_BACK], 'python', '0/0', {});
    expect(all[1].bytes).toEqual({
      value: 4096,
      least: 1024,
      most: 3072,
      known: 2,
      of: 3
    });
    expect(all[1].intensity).toBeNull();
    const launched = all.filter(({ launches: own }) => own.length > 0);
    const value = launched.reduce((sum, row) => sum + row.bytes.value!, 0);
    expect(totalsOf(all).bytes).toBe(value);
    const { trans } = contextOf(new ViewModel());
    expect(sumText(all[1].bytes, String, trans)).toBe(
      'Total of 2 of 3 launches: the others have no estimate, 1024 to 3072 each'
    );
  });

  it('is filtered by words, language and direction', () => {
    const names = (text: string, language = '', direction = '') =>
      filtered(rows, { text, language, direction }).map(({ id }) => id);
    expect(names('RELU aten')).toHaveLength(2);
    expect(names('relu mm')).toEqual([]);
    expect(names('', 'extern')).toEqual(['0/0 inference.extern_kernels.mm']);
    expect(names('relu', '', 'backward')).toHaveLength(1);
    expect(names('x @ y')).toHaveLength(2);
  });

  it('sums up what is known', () => {
    expect(totalsOf(rows)).toEqual({
      launches: 3,
      bytes: 4096,
      operations: 1024,
      unknown: 1,
      us: null,
      untimed: 3,
      least: null
    });
    expect(totalsOf([rows[2]]).bytes).toBeNull();
  });
});

it('names the artifacts as the report does', () => {
  expect(artifactOf(RELU)).toBe('kernel.forward.cpp_fused_relu_0');
  expect(wrapperName(RELU.direction, 'cpp')).toBe('cpp');
  expect(wrapperName(RELU_BACK.direction, 'python')).toBe('backward.python');
});

it('says what a resource is', () => {
  expect(resourceText('shared', 49_152)).toEqual(['Shared memory', '48.0 KiB']);
  expect(resourceText('compile_us', 12_300)[1]).toBe('12.3 ms');
  expect(resourceText('new_one', 1234)).toEqual(['new_one', '1,234']);
});

it('counts the launches that were not measured', () => {
  const timed = kernelOf('cpp_fused_add_1', {
    launches: [3, 4, 5].map(line => launch('python', line)),
    time: { ...KERNEL_TIME, launches: 2 }
  });
  const rows = rowsOf([timed], 'python', '0/0', {});
  expect(totalsOf(rows)).toMatchObject({ us: 12, untimed: 1 });
});

describe('KernelsBody', () => {
  let page: ReturnType<typeof stage>;
  let model: ViewModel;
  let context: ReturnType<typeof contextOf>;
  const origin = {};

  beforeEach(() => {
    page = stage();
    model = new ViewModel();
    model.report = report('f', {
      variants: [
        variantSummary(
          'python',
          {},
          {
            compilations: [
              compilationSummary({
                artifacts: [artifact(artifactOf(RELU), 'kernel')]
              })
            ]
          }
        )
      ],
      files: { 'cell.py': '' }
    });
    context = contextOf(model);
  });

  afterEach(() => page.remove());

  const show = (kernels: Kernel[]) =>
    page.draw(
      <KernelsBody
        variant="python"
        first={{ id: '0/0', kernels, decisions: [], why: '' }}
        read={jest.fn()}
        context={context}
        origin={origin}
      />
    );

  it('shows all that is known of the selected kernel', () => {
    model.selection = selection({ kernel: RELU.name });
    show([RELU, MM]);
    const text = page.all('.jp-Compilescope-kernel')[0].textContent!;
    for (const part of ['C++', 'forward', '4.00 KiB', 'aten.relu', 'x0 < 4']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('about 1.02 k');
  });

  it('says how many operators were fused and what that saves, sortably', () => {
    // jsdom lays nothing out: a row has no height, and a table no width.
    jest
      .spyOn(HTMLElement.prototype, 'offsetHeight', 'get')
      .mockReturnValue(600);
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
    jest.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(1900);
    const fusion = (nodes: number, saved_bytes: number | null) => ({
      nodes,
      saved_bytes,
      saved: ['relu'],
      kind: 'pointwise',
      why: saved_bytes === null ? 'Its sizes are not known.' : ''
    });
    show([
      kernelOf('few', { fusion: fusion(2, 4096) }),
      kernelOf('many', { fusion: fusion(7, 512) }),
      kernelOf('unknown', { fusion: fusion(3, null) }),
      kernelOf('unmapped', { absent: { fusion: 'torch does not say.' } })
    ]);
    const head = (name: string) =>
      page
        .all('[role=columnheader] button')
        .find(element => element.textContent === name)!;
    const rows = () =>
      page.all('[role=row]').map(element => element.textContent ?? '');
    expect(rows()[1]).toContain('2≈ about 4.00 KiB');
    page.click(head('est. saved'));
    const order = () =>
      rows()
        .slice(1)
        .map(label => /few|many|unknown|unmapped/.exec(label)![0]);
    expect(order()).toEqual(['few', 'many', 'unknown', 'unmapped']);
    page.click(head('fused'));
    expect(order()).toEqual(['many', 'unknown', 'few', 'unmapped']);
    expect(page.all('[title^="Its sizes are not"]')).toHaveLength(1);
    expect(page.all('[title="torch does not say."]')).toHaveLength(2);
    jest.restoreAllMocks();
  });

  it('says what a kernel without operators does, without figures of none', () => {
    const why = 'It computes no operator, only changes a layout.';
    const fusion = {
      ...{ nodes: 0, saved_bytes: null, saved: [] },
      ...{ kind: 'layout', why }
    };
    model.selection = selection({ kernel: 'cpp_fused_0' });
    show([
      kernelOf('cpp_fused_0', {
        fusion,
        launches: [launch('python', 12, { estimated_operations: 0 })]
      })
    ]);
    const [details] = page.all('.jp-Compilescope-kernel');
    expect(details.textContent).toContain(why);
    expect(details.textContent).not.toMatch(/Fused|Operations|0 operators/);
  });

  it('marks kernels with TMA descriptors and lists these', () => {
    const descriptor: Descriptor = {
      name: 'a_desc',
      made: 'device',
      shape: ['512', 'n'],
      strides: ['n', '1'],
      block: ['128', '64'],
      dtype: 'fp16',
      built: 'each block',
      line: 53,
      why: 'In each block.'
    };
    model.selection = selection({ kernel: 'triton_mm' });
    show([
      kernelOf('triton_mm', { language: 'triton', descriptors: [descriptor] })
    ]);
    const [head] = page.all('.jp-Compilescope-kernel > header');
    expect(head.textContent).toContain('TMA');
    expect(page.text()).toContain(
      'a_descfp16[512, n][n, 1][128, 64]by each block, in the kernel · line 53'
    );
    expect(page.text()).toContain('In each block.');
  });

  it('marks estimates as such', () => {
    model.selection = selection({ kernel: RELU.name });
    show([RELU]);
    const estimates = page.all('.jp-Compilescope-kernel [title^=Estimated]');
    expect(estimates.map(element => element.textContent)).toEqual([
      '≈ about 4.00 KiB',
      '≈ about 1.02 k',
      '≈ about 0.25'
    ]);
    expect(estimates[0].title).toContain('Total of 2 launches, 2.00 KiB each');
  });

  it('shows what was measured, and does not mark it as an estimate', () => {
    model.selection = selection({ kernel: MM.name });
    show([{ ...MM, time: KERNEL_TIME }, RELU]);
    const heads = page
      .all('[role=columnheader]')
      .map(element => element.textContent);
    expect(heads).toEqual(expect.arrayContaining(['time', 'of peak', 'B/s']));
    expect(page.all('[role=status]')[0].textContent).toContain(
      '12.0 µs (2 not measured)'
    );
    const details = page.all('.jp-Compilescope-kernel')[0].textContent;
    expect(details).toContain('Time12.0 µs (10.8–13.2 µs), measured over');
    expect(
      page.all('.jp-Compilescope-estimate').map(element => element.textContent)
    ).not.toContainEqual(expect.stringContaining('µs'));
  });

  it('measures kernels once the variant is built, and says why not before', () => {
    show([RELU]);
    expect(
      page.all('[role=columnheader]').map(element => element.textContent)
    ).not.toContain('time');
    const button = () => page.button('Measure kernels') as HTMLButtonElement;
    expect(button().disabled).toBe(true);
    expect(page.text()).toContain('Build and time it first.');
    model.report!.variants[0].stage = 'built';
    show([{ ...RELU }]);
    page.click(button());
    expect(model.startStudies).toHaveBeenCalledWith(['kernels'], ['python']);
  });

  it('goes to a launch in the wrapper that it is in', () => {
    model.selection = selection({ kernel: RELU.name });
    show([RELU]);
    page.click(page.button('Show line 30 of variant cpp in the code'));
    expect(model.select).toHaveBeenCalledWith({
      kernel: RELU.name,
      key: 'launch:30',
      text: { variant: 'cpp', compilation: '0/0', artifact: 'cpp', line: 30 },
      origin
    });
    expect(context.open).toHaveBeenCalledWith('code');
  });

  it('counts the further lines beside that of the main operator', () => {
    // jsdom lays nothing out: a row has no height, and a table no width.
    jest
      .spyOn(HTMLElement.prototype, 'offsetHeight', 'get')
      .mockReturnValue(600);
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
    jest.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(1900);
    show([RELU]);
    const [more] = page.all('.jp-Compilescope-firstSource > span:last-child');
    expect(more.textContent).toBe('+1 line');
    expect(more.title).toMatch(/^Of its other operators, or .*: lib\.py:99$/);
    expect(page.all('[title^="1 more launch"]')[0].title).toBe(
      '1 more launch, in line 15'
    );
    jest.restoreAllMocks();
  });

  it('opens a source where there is one, and says where there is none', () => {
    model.selection = selection({ kernel: RELU.name });
    show([RELU, MM]);
    page.click(page.button('Open source'));
    expect(model.selection.text).toEqual({
      variant: 'python',
      compilation: '0/0',
      artifact: 'kernel.forward.cpp_fused_relu_0',
      line: null
    });
    model.selection = selection({ kernel: MM.name });
    show([RELU, { ...MM }]);
    expect(page.text()).toContain('Extern kernel: no generated');
  });

  it('follows what the selection means', () => {
    model.linked = linked({ kernels: new Set([MM.name]) });
    show([RELU, MM]);
    const details = page.all('.jp-Compilescope-kernel')[0];
    expect(details.getAttribute('aria-label')).toBe(`Kernel ${MM.name}`);
    expect(details.textContent).toContain('The sizes are dynamic.');
  });

  it('counts the launches of each direction', () => {
    const back = { ...RELU_BACK, launches: RELU.launches.slice(0, 1) };
    show([RELU, back]);
    const [status] = page.all('[role=status]');
    expect(status.textContent).toContain('3 launches (2 forward, 1 backward)');
  });

  it('counts what a filter leaves', () => {
    show([RELU, MM]);
    const status = () => page.all('[role=status]')[0].textContent;
    expect(status()).toContain('2 kernels, 3 launches');
    page.choose(page.all('input[type=search]')[0], 'mm');
    expect(status()).toContain('1 of 2 kernels, 1 launch');
    page.choose(page.all('input[type=search]')[0], 'nothing at all');
    expect(page.text()).toContain('No kernel matches');
  });

  it('shows names as text', () => {
    const hostile = kernelOf(HOSTILE, {
      ops: [HOSTILE],
      grid: HOSTILE,
      launches: [launch('python', 1, { text: HOSTILE })],
      sources: [{ file: HOSTILE, line: 1, function: HOSTILE, code: HOSTILE }],
      absent: { [HOSTILE]: HOSTILE },
      resources: { [HOSTILE]: 3 }
    });
    model.selection = selection({ kernel: HOSTILE });
    show([hostile]);
    expect(page.all('img')).toEqual([]);
    expect(page.text().split(HOSTILE).length - 1).toBeGreaterThanOrEqual(8);
  });
});
