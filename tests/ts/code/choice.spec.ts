import { nullTranslator } from '@jupyterlab/translation';
import { choose, grouped } from '../../../src/code/artifacts';
import { mainSource, shortList } from '../../../src/code/describe';
import { formatPlace } from '../../../src/words/format';
import { problemOf, whyNothing } from '../../../src/code/explain';
import { embeddedSource } from '../../../src/code/embedded';
import { modesFor } from '../../../src/code/mode';
import {
  artifact,
  compilation,
  region,
  report,
  variant
} from '../support/code';

const trans = nullTranslator.load('');

const graphs = [artifact('graph.post_grad', 'graph', 'fx')];
const python = [artifact('python'), ...graphs];
const cpp = [artifact('cpp', 'code', 'cpp'), artifact('shell'), ...graphs];
const both = report([
  variant('python', [compilation('0/0', python), compilation('0/1', python)]),
  variant('cpp', [compilation('0/0', cpp)], { cpp_wrapper: true }),
  variant('eager', [], { backend: null })
]);

describe('choose', () => {
  const name = (...args: Parameters<typeof choose>) =>
    choose(...args).address.artifact;

  it('takes the Python wrapper left and the C++ wrapper right', () => {
    expect(name(both, 'left', 'python', '0/0', null)).toBe('python');
    expect(name(both, 'right', 'cpp', '0/0', null)).toBe('cpp');
  });

  it('takes what there is when a side lacks its own', () => {
    expect(name(both, 'right', 'python', '0/0', null)).toBe('python');
    const graphOnly = report([variant('python', [compilation('0/0', graphs)])]);
    expect(name(graphOnly, 'left', 'python', '0/0', null)).toBe(
      'graph.post_grad'
    );
  });

  it('keeps what the user picked', () => {
    const choice = choose(both, 'right', 'cpp', '0/0', 'graph.post_grad');
    expect(choice.artifact).toEqual(graphs[0]);
  });

  it('takes the other wrapper when a switch was flipped', () => {
    expect(name(both, 'left', 'cpp', '0/0', 'python')).toBe('cpp');
    expect(name(both, 'left', 'python', '0/0', 'cpp')).toBe('python');
    expect(name(both, 'left', 'python', '0/0', 'shell')).toBe('python');
  });

  it('asks for a missing artifact all the same: the kernel knows why', () => {
    const choice = choose(both, 'left', 'python', '0/0', 'kernel.gone');
    expect(choice.address.artifact).toBe('kernel.gone');
    expect(choice.artifact).toBeNull();
  });

  it('takes another compilation where the wanted one does not exist', () => {
    const id = (...args: Parameters<typeof choose>) =>
      choose(...args).address.compilation;
    expect(id(both, 'left', 'python', '0/1', null)).toBe('0/1');
    expect(id(both, 'right', 'cpp', '0/1', null)).toBe('0/0');
    expect(id(both, 'left', 'python', '', null)).toBe('0/0');
    const breaks = report([
      variant('python', [
        compilation('0/0', graphs),
        compilation('1/0', python)
      ])
    ]);
    expect(id(breaks, 'left', 'python', '', null)).toBe('1/0');
  });

  it('keeps the name of a variant that is not there yet', () => {
    const choice = choose(both, 'right', 'lite', '0/0', null);
    expect(choice.address.variant).toBe('lite');
    expect(choice.variant).toBeNull();
  });
});

describe('grouped', () => {
  it('groups artifacts in a fixed order and leaves out empty groups', () => {
    const groups = grouped(
      compilation('0/0', [
        artifact('raw.describe_tensor', 'raw', 'text'),
        artifact('kernel.k', 'kernel', 'cpp'),
        artifact('python')
      ])
    );
    expect(groups.map(([group]) => group)).toEqual(['code', 'kernel', 'raw']);
    expect(grouped(null)).toEqual([]);
  });
});

describe('modesFor', () => {
  const side = (variant: string, item = artifact('python'), id = '0/0') => ({
    address: { variant, compilation: id, artifact: item.name },
    artifact: item
  });
  const cpp = artifact('cpp', 'code', 'cpp');

  it('aligns the two wrappers', () => {
    expect(modesFor(side('python'), side('cpp', cpp), 11)[0]).toBe('aligned');
  });

  it('compares one artifact of two variants, or of two compilations', () => {
    expect(modesFor(side('python'), side('lite'), 11)).toEqual([
      'diff',
      'aligned',
      'independent'
    ]);
    const again = side('python', artifact('python'), '0/1');
    expect(modesFor(side('python'), again, 0)[0]).toBe('diff');
  });

  it('compares two graphs, and two kernels of one language', () => {
    const graph = (name: string) => side('python', artifact(name, 'graph'));
    const kernel = (name: string, language: string) =>
      side('python', artifact(name, 'kernel', language));
    expect(modesFor(graph('graph.a'), graph('graph.b'), 0)[0]).toBe('diff');
    expect(modesFor(kernel('k', 'cpp'), kernel('l', 'cpp'), 0)[0]).toBe('diff');
    expect(modesFor(kernel('k', 'cpp'), kernel('l', 'triton'), 0)[0]).toBe(
      'independent'
    );
  });

  it('does not align what shares nothing', () => {
    const modes = modesFor(side('python'), side('cpp', cpp), 0);
    expect(modes).toEqual(['independent', 'diff']);
  });

  it('has one way to show a single text', () => {
    expect(modesFor(side('python'), null, 0)).toEqual(['independent']);
    expect(modesFor(null, null, 0)).toEqual(['independent']);
  });
});

describe('whyNothing', () => {
  const why = (name: string, in_ = both, pending = false, isLive = true) =>
    whyNothing(
      choose(in_, 'left', name, '0/0', null),
      in_,
      { pending, isLive },
      trans
    );

  it('says nothing when the text can be asked for', () => {
    expect(why('python')).toBeNull();
  });

  it('tells a variant to come from one that does not exist', () => {
    expect(why('lite', both, true)?.what).toContain('Generating code');
    expect(why('lite')?.what).toContain('no variant “lite”');
  });

  it('tells a report in the making from one that was stopped', () => {
    const none = report([], 'attend');
    expect(why('', none, true)?.what).toContain('Generating code');
    const stopped = why('', none);
    expect(stopped?.what).toContain('“attend”');
    expect(stopped?.remedy).toContain('run the cell again');
    const ofFile = why('', none, false, false);
    expect(ofFile?.remedy).toBe('Run the cell again.');
    const swept = why(
      '',
      {
        ...none,
        sweep: { id: 's', state: 'done', cells: 1, finished: 1 } as const
      },
      false,
      false
    );
    expect(swept?.what).toBe('The code of “attend” was not kept.');
    expect(swept?.why).toContain('Compare & deploy');
  });

  it('passes on the error of a report without variants', () => {
    const fault = { ...why('', report([]))!, severity: 'error' as const };
    const failed = { ...report([]), problems: [fault] };
    expect(why('', failed)).toBe(fault);
  });

  it('says that eager generates no code', () => {
    expect(why('eager')?.why).toContain('without torch.compile');
  });

  it('passes on the error that stopped the variant', () => {
    const error = {
      severity: 'error' as const,
      what: 'g++ not found',
      why: '',
      remedy: 'install g++',
      where: null,
      detail: '',
      facts: {}
    };
    const note = { ...error, severity: 'warning' as const, what: 'a note' };
    const failed = report([
      variant('cpp', [], {}, { stage: 'failed', problems: [note, error] })
    ]);
    expect(why('cpp', failed)).toBe(error);
  });

  it('never is blank', () => {
    const empty = report([variant('python', [])]);
    expect(why('python', empty)?.what).not.toBe('');
  });
});

describe('embeddedSource', () => {
  it('finds the C++ in a kernel’s definition', () => {
    const text =
      "cpp_fused_0 = async_compile.cpp_pybinding(['float*'], r'''\n" +
      "void kernel() {}\n''')";
    const source = embeddedSource(text)!;
    expect(source.language).toBe('cpp');
    expect(text.slice(source.from, source.to)).toBe('\nvoid kernel() {}\n');
  });

  it('knows Triton for Python', () => {
    const text =
      "# kernel path: /a.py\nk = async_compile.triton('k', '''\nimport x\n''', device_str='cuda')";
    const source = embeddedSource(text)!;
    expect(source.language).toBe('python');
    expect(text.slice(source.from, source.to)).toBe('\nimport x\n');
  });

  it('leaves alone what it does not know', () => {
    expect(embeddedSource('extern "C" void kernel() {}')).toBeNull();
    expect(embeddedSource("k = async_compile.cpp(r'''cut off")).toBeNull();
  });
});

describe('problemOf', () => {
  const problem = {
    severity: 'error' as const,
    what: 'gone',
    why: '',
    remedy: '',
    where: null,
    detail: '',
    facts: {}
  };

  it('takes the problem that an error carries, or that was thrown', () => {
    expect(problemOf(Object.assign(new Error('x'), { problem }))).toBe(problem);
    expect(problemOf(problem)).toBe(problem);
  });

  it('falls back on the message', () => {
    expect(problemOf(new Error('lost'))).toMatchObject({ what: 'lost' });
    expect(problemOf('lost')).toMatchObject({ what: 'lost' });
    expect(problemOf(null).what).toBe('null');
  });
});

describe('describe', () => {
  const line = (file: string, line: number) => ({
    file,
    line,
    function: '',
    code: ''
  });
  const files = { '/tmp/ipykernel_1/2.py': 'cell text' };

  it('names a source line by its file, or as the cell’s', () => {
    expect(formatPlace(line('/a/b/model.py', 3), files, trans)).toBe(
      'model.py:3'
    );
    expect(formatPlace(line('C:\\a\\model.py', 3), files, trans)).toBe(
      'model.py:3'
    );
    expect(formatPlace(line('/tmp/ipykernel_1/2.py', 3), files, trans)).toBe(
      'cell line 3'
    );
  });

  it('lets the innermost line of the cell stand for a region', () => {
    const cell = '/tmp/ipykernel_1/2.py';
    const sources = [line(cell, 9), line(cell, 4), line('linear.py', 125)];
    expect(mainSource(region('launch', 1, 1, '', { sources }), files)).toEqual(
      line(cell, 4)
    );
    expect(mainSource(region('launch', 1, 1, '', { sources }), {})).toEqual(
      line('linear.py', 125)
    );
    expect(mainSource(region('launch', 1, 1), files)).toBeNull();
  });

  it('says how many more there are', () => {
    expect(shortList(['a', 'b', 'c', 'd'], 2, trans)).toBe('a, b and 2 more');
    expect(shortList(['a', 'b'], 2, trans)).toBe('a, b');
    expect(shortList([], 2, trans)).toBe('');
  });
});
