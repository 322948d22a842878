import { resolveLinks } from '../../../src/model/links/links';
import { GraphIndex } from '../../../src/model/links/nodes';
import { SubjectModel } from '../../../src/model/subject';
import type { Kernel, Region } from '../../../src/protocol/types';
import type { ILinked, ISelection } from '../../../src/interfaces/selection';
import { region } from '../support/code';
import {
  FakeConnection,
  report,
  settle,
  subjectSummary,
  variantSummary
} from '../support/fakes';
import {
  compilationSummary,
  fullCompilation,
  graphOf,
  kernelOf,
  nodeOf,
  selection
} from '../support/structs';
import { type ILinkData } from '../../../src/model/links/linkData';

const at = (line: number, file = 'cell.py') => ({
  file,
  line,
  function: '',
  code: ''
});

const launch = (
  key: string,
  artifact: 'python' | 'cpp' = 'python'
): Kernel['launches'][number] =>
  ({
    artifact,
    variant: artifact,
    line: 1,
    end: 1,
    key,
    text: ''
  }) as Kernel['launches'][number];

/*
 * cell.py:1  y = x @ w          linear  -> mm    -> mm kernel, launch #1
 * cell.py:2  y = gelu(y) (lib)  gelu    -> mul, erf -> fused, launch #2
 * cell.py:3  y = (y @ v).t()    linear_1 -> mm_1 -> mm kernel, launch #3
 *                               t       -> permute: no kernel
 * backward:                     gelu    -> mul_9 -> fused_backward, launch b#1
 */
const dynamo = graphOf('dynamo', [
  nodeOf('x', { op: 'placeholder' }),
  nodeOf('linear', { sources: [at(1)] }),
  nodeOf('gelu', { sources: [at(2), at(90, 'library.py')] }),
  nodeOf('linear_1', { sources: [at(3)] }),
  nodeOf('t', { sources: [at(3)] }),
  nodeOf('output', { op: 'output' })
]);
const postGrad = graphOf('post_grad', [
  nodeOf('arg0_1', { op: 'placeholder' }),
  nodeOf('mm', { origins: ['linear'], sources: [at(1)] }),
  nodeOf('mul', { origins: ['gelu'], sources: [at(2), at(90, 'library.py')] }),
  nodeOf('erf', { origins: ['gelu'], sources: [at(2), at(90, 'library.py')] }),
  nodeOf('mm_1', { origins: ['linear_1'], sources: [at(3)] }),
  nodeOf('permute', { origins: ['t'], sources: [at(3)] }),
  nodeOf('lost')
]);
const backward = graphOf('backward_post_grad', [
  nodeOf('mul_9', { origins: ['gelu'], sources: [at(2)] })
]);
const joint = graphOf('joint', [
  nodeOf('mul', { origins: ['gelu'] }),
  nodeOf('mm', { origins: ['linear'] })
]);

const kernels: Kernel[] = [
  kernelOf('extern_kernels.mm', {
    direction: 'forward',
    nodes: ['mm', 'mm_1'],
    sources: [at(1), at(3)],
    launches: ['#1', '#3'].flatMap(key => [launch(key), launch(key, 'cpp')])
  }),
  kernelOf('fused', {
    direction: 'forward',
    nodes: ['mul', 'erf'],
    sources: [at(2), at(90, 'library.py')],
    launches: [launch('#2'), launch('#2', 'cpp')]
  }),
  kernelOf('fused_backward', {
    direction: 'backward',
    nodes: ['mul_9'],
    sources: [at(2)],
    launches: [launch('b#1'), launch('b#1', 'cpp')]
  }),
  // What the C++ variant calls the library's kernel.
  kernelOf('aoti_mm_out', {
    direction: 'forward',
    nodes: ['mm', 'mm_1'],
    launches: ['#1', '#3'].map(key => launch(key, 'cpp'))
  })
];

const launches = new Map<string, Region>(
  [
    region('launch', 1, 1, '#1', { nodes: ['mm'], sources: [at(1)] }),
    region('launch', 3, 3, '#3', { nodes: ['mm_1'], sources: [at(3)] })
  ].map(candidate => [candidate.key, candidate])
);

const data: ILinkData = {
  kernels,
  graphs: new Map(
    [dynamo, postGrad, backward, joint].map(graph => [
      graph.stage,
      GraphIndex.of(graph)
    ])
  ),
  launches,
  files: { 'cell.py': '' }
};

const look = (change: Partial<ISelection>, more: Partial<ILinkData> = {}) =>
  plain(resolveLinks(selection(change), { ...data, ...more }));

function plain({ keys, kernels, nodes, sources, missing }: ILinked) {
  return {
    keys: [...keys].sort(),
    kernels: [...kernels].sort(),
    nodes: Object.fromEntries(
      [...nodes].map(([stage, names]) => [stage, [...names].sort()])
    ),
    lines: sources.map(({ file, line }) => `${file}:${line}`),
    missing
  };
}

describe('resolveLinks', () => {
  it('leads from a line to its nodes, kernels and launches, backward too', () => {
    expect(look({ source: at(2) })).toEqual({
      keys: ['#2', 'b#1'],
      kernels: ['fused', 'fused_backward'],
      nodes: {
        dynamo: ['gelu'],
        post_grad: ['erf', 'mul'],
        backward_post_grad: ['mul_9'],
        joint: ['mul']
      },
      lines: ['cell.py:2'],
      missing: ''
    });
  });

  it('takes of a kernel’s launches only those of the line', () => {
    const { keys, kernels, nodes } = look({ source: at(3) });
    expect(keys).toEqual(['#3']);
    expect(kernels).toEqual(['aoti_mm_out', 'extern_kernels.mm']);
    expect(nodes.post_grad).toEqual(['mm_1', 'permute']);
  });

  it('leads from Dynamo’s node to what became of it', () => {
    expect(look({ node: { stage: 'dynamo', name: 'gelu' } })).toMatchObject({
      keys: ['#2', 'b#1'],
      kernels: ['fused', 'fused_backward'],
      lines: ['cell.py:2'],
      missing: ''
    });
  });

  it('leads from a node to its one launch, back to Dynamo’s and the line', () => {
    const links = look({ node: { stage: 'post_grad', name: 'mm_1' } });
    expect(links.keys).toEqual(['#3']);
    expect(links.nodes.dynamo).toEqual(['linear_1']);
    expect(links.lines).toEqual(['cell.py:3']);
  });

  it('leads from a node of a stage between', () => {
    const links = look({ node: { stage: 'joint', name: 'mul' } });
    expect(links.nodes.post_grad).toEqual(['mul']);
    expect(links.nodes.dynamo).toEqual(['gelu']);
    expect(links.kernels).toContain('fused');
  });

  it('leads from a launch back', () => {
    expect(look({ key: '#1' })).toEqual({
      keys: ['#1'],
      kernels: ['aoti_mm_out', 'extern_kernels.mm'],
      nodes: { post_grad: ['mm'], dynamo: ['linear'], joint: ['mm'] },
      lines: ['cell.py:1'],
      missing: ''
    });
  });

  it('leads from a kernel to all its launches', () => {
    const links = look({ kernel: 'extern_kernels.mm' });
    expect(links.keys).toEqual(['#1', '#3']);
    expect(links.kernels).toEqual(['aoti_mm_out', 'extern_kernels.mm']);
  });

  it('takes the line of the user’s cell, not the library’s below it', () => {
    expect(look({ kernel: 'fused' }).lines).toEqual(['cell.py:2']);
  });

  it('does with kernels alone where no graph is there', () => {
    const links = look({ source: at(2) }, { graphs: new Map() });
    expect(links.keys).toEqual(['#2', 'b#1']);
    expect(links.nodes.post_grad).toEqual(['erf', 'mul']);
  });

  it.each<[string, Partial<ISelection>, RegExp]>([
    ['a view', { node: { stage: 'post_grad', name: 'permute' } }, /No kernel/],
    ['an input', { node: { stage: 'dynamo', name: 'x' } }, /An input/],
    ['an output', { node: { stage: 'dynamo', name: 'output' } }, /returned/],
    ['a line without code', { source: at(40) }, /names no operation/]
  ])('says what is missing for %s', (_, change, text) => {
    expect(look(change).missing).toMatch(text);
  });

  it('says that a kernel’s nodes, or its partner, are not known', () => {
    const bare = kernelOf('k', { launches: [launch('#9')] });
    expect(look({ key: '#9' }, { kernels: [bare] }).missing).toMatch(/nodes/);
    const alone = { ...bare, nodes: ['mm'], sources: [at(1)] };
    expect(
      look({ kernel: 'k' }, { kernels: [alone, kernels[1]] }).missing
    ).toMatch(/C\+\+ wrapper has no launch/);
  });
});

describe('a model’s links', () => {
  let connection: FakeConnection;
  let model: SubjectModel;
  let listener: jest.Mock;

  beforeEach(async () => {
    connection = new FakeConnection();
    model = new SubjectModel();
    model.connection = connection;
    const compilations = [
      compilationSummary({ stages: ['dynamo', 'post_grad', 'joint'] })
    ];
    connection.event.emit({
      event: 'subjects_changed',
      data: { subjects: [subjectSummary('f')], focus: 'f', offer: null }
    });
    await connection.answer(
      'get_report',
      report('f', {
        variants: [
          variantSummary('python', {}, { compilations }),
          variantSummary('cpp', { cpp_wrapper: true }, { compilations })
        ]
      })
    );
    listener = jest.fn();
    model.linkedChanged.connect((_, linked) => listener(linked));
  });

  afterEach(() => model.dispose());

  const asked = () =>
    connection.asked.map(({ command, args }) => {
      const { variant, parts, stage } = args as Record<string, unknown>;
      return [command, variant, parts ?? stage];
    });
  const answerKernels = () =>
    connection.answer('get_compilation', {
      revision: 1,
      compilation: fullCompilation({ kernels: kernels.slice(1, 2) })
    });

  it('cost nothing while nothing is selected', async () => {
    model.select({});
    model.variant = 'cpp';
    await settle();
    expect(asked()).toEqual([]);
    expect(listener).not.toHaveBeenCalled();
  });

  it('are the selection itself until they are known', async () => {
    model.select({ key: '#2' });
    expect([...model.linked.keys]).toEqual(['#2']);
    expect(listener).not.toHaveBeenCalled();
    await settle();
    expect(asked()).toEqual([['get_compilation', 'python', ['kernels']]]);
    await answerKernels();
    expect(asked()).toEqual([['get_compilation', 'cpp', ['kernels']]]);
    await answerKernels();
    expect(listener).toHaveBeenCalledTimes(1);
    expect([...model.linked.kernels]).toEqual(['fused']);
  });

  it('read graphs only where a view looks at one', async () => {
    model.select({ kernel: 'fused' });
    await settle();
    await answerKernels();
    await answerKernels();
    expect(asked()).toEqual([]);
    void model.getGraph('python', '0/0', 'dynamo');
    await settle();
    expect(asked().map(([, , stage]) => stage)).toEqual([
      'dynamo',
      'post_grad'
    ]);
    await connection.answer('get_graph', { revision: 1, graph: dynamo });
    await connection.answer('get_graph', { revision: 1, graph: postGrad });
    expect([...(model.linked.nodes.get('dynamo') ?? [])]).toEqual(['gelu']);
  });

  it('that come too late are dropped', async () => {
    model.select({ key: '#2' });
    await settle();
    model.select({});
    expect(listener).toHaveBeenCalledTimes(1);
    await answerKernels();
    await answerKernels();
    expect(listener).toHaveBeenCalledTimes(1);
    expect(model.linked.kernels.size).toBe(0);
  });

  it('say what they can where the kernel does not answer', async () => {
    model.select({ key: '#2' });
    await settle();
    await connection.answer('get_compilation', new Error('gone'));
    expect(listener).toHaveBeenCalledTimes(1);
    expect([...model.linked.keys]).toEqual(['#2']);
  });
});
