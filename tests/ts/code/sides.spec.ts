import { nullTranslator } from '@jupyterlab/translation';
import { choose } from '../../../src/code/artifacts';
import { compare, lineCount, marksOf } from '../../../src/code/comparison';
import { SideLoader, type SideState } from '../../../src/code/loader';
import { modesFor } from '../../../src/code/mode';
import { Sides } from '../../../src/code/sides';
import { problem, RequestError } from '../../../src/protocol/client';
import type {
  ArtifactResult,
  Region,
  ReportSummary
} from '../../../src/protocol/types';
import type { ISubjectModel } from '../../../src/interfaces/subject';
import {
  artifact,
  artifactResult,
  compilation,
  region,
  report,
  SidesModel,
  variant
} from '../support/code';

const trans = nullTranslator.load('');
const nothing: SideState = { kind: 'empty', problem: null };

const both = report([
  variant('python', [
    compilation('0/0', [artifact('python')]),
    compilation('0/1', [artifact('python')])
  ]),
  variant('cpp', [compilation('0/0', [artifact('cpp', 'code', 'cpp')])], {
    cpp_wrapper: true
  })
]);

const result = (text: string) => artifactResult('python', text);

/** Lets promises run. */
const settle = () => new Promise(resolve => setTimeout(resolve));

describe('SideLoader', () => {
  const choice = choose(both, 'left', 'python', '0/0', null);
  const other = choose(both, 'left', 'python', '0/1', null);

  it('goes from empty over loading to data', async () => {
    const loader = new SideLoader(async () => result('text'));
    const kinds: string[] = [loader.state.kind];
    loader.changed.connect(() => kinds.push(loader.state.kind));
    await loader.load(choice);
    expect(kinds).toEqual(['empty', 'loading', 'data']);
  });

  it('drops an answer that is no longer wanted', async () => {
    const answers: ((value: ArtifactResult) => void)[] = [];
    const loader = new SideLoader(
      () => new Promise(resolve => answers.push(resolve))
    );
    void loader.load(choice);
    void loader.load(other);
    answers[1](result('second'));
    await settle();
    answers[0](result('first'));
    await settle();
    expect(loader.state).toMatchObject({
      kind: 'data',
      choice: other,
      result: { text: 'second' }
    });
  });

  it('keeps the old text until the new one has come', async () => {
    let answer: (value: ArtifactResult) => void = () => undefined;
    const loader = new SideLoader((_, id) =>
      id === '0/0'
        ? Promise.resolve(result('old'))
        : new Promise(resolve => (answer = resolve))
    );
    await loader.load(choice);
    void loader.load(other);
    expect(loader.state).toMatchObject({ pending: true });
    answer(result('new'));
    await settle();
    expect(loader.state).toMatchObject({
      pending: false,
      result: { text: 'new' }
    });
  });

  it('keeps the very result when a new revision says the same', async () => {
    const loader = new SideLoader(async () => result('text'));
    await loader.load(choice);
    const before = loader.state;
    await loader.load(choice);
    const after = loader.state;
    expect(
      before.kind === 'data' &&
        after.kind === 'data' &&
        before.result === after.result
    ).toBe(true);
  });

  it('takes a new description of the same text', async () => {
    let answer = result('text');
    const loader = new SideLoader(async () => answer);
    await loader.load(choice);
    answer = { ...answer, artifact: { ...answer.artifact, forms: ['ptx'] } };
    await loader.load(choice);
    expect(loader.state).toMatchObject({
      result: { artifact: { forms: ['ptx'] } }
    });
  });

  it('says why there is no text', async () => {
    const problem = { severity: 'info', what: 'no C++ here' };
    const loader = new SideLoader(() => Promise.reject({ problem }));
    await loader.load(choice);
    expect(loader.state).toMatchObject({ kind: 'missing', problem });
  });
});

describe('compare', () => {
  const state = (
    variant: string,
    text: string,
    regions: Region[] = []
  ): SideState => ({
    kind: 'data',
    choice: choose(both, 'left', variant, '0/0', null),
    result: artifactResult(variant, text, regions),
    pending: false
  });

  it('counts the launches that face each other', () => {
    const left = [
      region('launch', 1, 1, 'a', { kernel: 'k' }),
      region('launch', 2, 2, 'b')
    ];
    const right = [
      region('launch', 2, 2, 'a'),
      region('kernel', 3, 3, 'k', { kernel: 'k' })
    ];
    const comparison = compare(
      state('python', '1\n2', left),
      state('cpp', '1\n2\n3', right)
    );
    expect(comparison.launches).toEqual({ aligned: 1, left: 2, right: 1 });
    expect(comparison.modes[0]).toBe('aligned');
    const marks = marksOf(comparison, { key: 'a', source: null });
    expect(marks.left.strong).toHaveLength(1);
    expect(marks.right.strong).toHaveLength(1);
    // Only the left side knows which kernel is called; the right one defines it.
    expect(marks.right.soft.map(r => r.key)).toEqual(['k']);
  });

  it('says when both texts are the same', () => {
    const a = state('python', 'x = 1');
    expect(compare(a, state('python', 'x = 1')).identical).toBe(true);
    expect(compare(a, state('python', 'x = 2')).identical).toBe(false);
    expect(compare(nothing, nothing).identical).toBe(false);
  });

  it('counts lines as an editor does', () => {
    expect(lineCount('')).toBe(1);
    expect(lineCount('a\r\nb\nc\n')).toBe(4);
  });
});

describe('Sides', () => {
  /** It notes what is asked of it. */
  class Model extends SidesModel {
    constructor(public override report: ReportSummary | null) {
      super();
    }
    asked: string[] = [];
    async getArtifact(...address: string[]): Promise<ArtifactResult> {
      this.asked.push(address.join(' '));
      return result(address.join(' '));
    }
  }
  const make = (report: ReportSummary | null = both) => {
    const model = new Model(report);
    const sides = new Sides(model as unknown as ISubjectModel, trans);
    return { model, sides };
  };

  it('starts with Python left and C++ right', () => {
    const { model } = make();
    expect(model.asked).toEqual(['python 0/0 python', 'cpp 0/0 cpp']);
  });

  it('waits for a report', () => {
    const { model, sides } = make(null);
    expect(sides.loader('left').state.kind).toBe('empty');
    model.report = both;
    model.reportChanged.emit();
    expect(model.asked).toHaveLength(2);
  });

  it('says how the kernel stands while there is no report', () => {
    const { model, sides } = make(null);
    const what = () => {
      const { state } = sides.loader('left');
      return state.kind === 'empty' ? state.problem?.what : null;
    };
    expect(what()).toContain('Nothing inspected');
    model.status = { kind: 'connecting' };
    model.statusChanged.emit(model.status);
    expect(what()).toContain('Waiting');
  });

  it('fetches again what was lost with the connection, once for each time it is back', async () => {
    const { model, sides } = make();
    await settle();
    const lost = new RequestError(problem({ what: 'lost' }), 'closed');
    let isLost = true;
    const fetch = model.getArtifact.bind(model);
    model.getArtifact = async (...address) => {
      const text = await fetch(...address);
      if (isLost) {
        throw lost;
      }
      return text;
    };
    model.asked = [];
    sides.pick('left', { compilation: '0/1' });
    await settle();
    // The answer was given up while the connection was back already.
    expect(model.asked).toEqual(Array(2).fill('python 0/1 python'));
    expect(sides.loader('left').state.kind).toBe('missing');
    isLost = false;
    model.statusChanged.emit(model.status);
    await settle();
    expect(model.asked).toHaveLength(3);
    expect(sides.loader('left').state.kind).toBe('data');
    model.statusChanged.emit(model.status);
    expect(model.asked).toHaveLength(3);
  });

  it('asks only for what changed', () => {
    const { model, sides } = make();
    model.asked = [];
    model.reportChanged.emit();
    model.requestedChanged.emit();
    expect(model.asked).toEqual([]);
    sides.pick('left', { compilation: '0/1' });
    expect(model.asked).toEqual(['python 0/1 python']);
  });

  it('asks again for a new revision', () => {
    const { model } = make();
    model.asked = [];
    model.report = { ...both, revision: 2 };
    model.reportChanged.emit();
    expect(model.asked).toHaveLength(2);
  });

  it('tells the model which variant was picked', () => {
    const { model, sides } = make();
    sides.pick('right', { variant: 'python' });
    expect(model.selectedVariants).toEqual({ left: 'python', right: 'python' });
    expect(sides.choice('right')?.address.artifact).toBe('python');
  });

  it('lets the model’s compilation overrule one that a side picked', () => {
    const { model, sides } = make();
    sides.pick('left', { compilation: '0/1' });
    model.compilation = '0/0';
    model.compilationChanged.emit('0/0');
    expect(sides.choice('left')?.address.compilation).toBe('0/0');
  });

  it('swaps the sides', () => {
    const { sides } = make();
    sides.swap();
    expect(sides.choice('left')?.address).toEqual({
      variant: 'cpp',
      compilation: '0/0',
      artifact: 'cpp'
    });
    expect(sides.choice('right')?.address.artifact).toBe('python');
  });

  it('forgets what was picked when the subject is another', () => {
    const { model, sides } = make();
    sides.pick('left', { compilation: '0/1', artifact: 'gone' });
    model.report = { ...report(both.variants, 'another') };
    model.reportChanged.emit();
    expect(sides.choice('left')?.address).toEqual({
      variant: 'python',
      compilation: '0/0',
      artifact: 'python'
    });
  });

  describe('with one variant alone', () => {
    const texts = [
      artifact('python'),
      artifact('graph.dynamo', 'graph', 'fx'),
      artifact('graph.post_grad', 'graph', 'fx')
    ];
    const watch = (artifacts = texts) =>
      report([
        variant('as written', [
          compilation('0/0', artifacts),
          compilation('1/0', artifacts),
          compilation('0/1', artifacts)
        ])
      ]);
    const shown = (sides: Sides) =>
      (['left', 'right'] as const).map(side => {
        const { compilation, artifact } = sides.choice(side)!.address;
        return `${compilation} ${artifact}`;
      });

    it('puts the graph beside the code, not the code again', () => {
      const { model, sides } = make(watch());
      expect(shown(sides)).toEqual(['0/0 python', '0/0 graph.post_grad']);
      expect(model.asked).toEqual([
        'as written 0/0 python',
        'as written 0/0 graph.post_grad'
      ]);
      const [left, right] = [sides.choice('left')!, sides.choice('right')!];
      const at = ({ address, artifact }: typeof left) => ({
        address,
        artifact: artifact!
      });
      expect(modesFor(at(left), at(right), 0)[0]).toBe('independent');
    });

    it('takes Dynamo’s graph where it is the only one', () => {
      const { sides } = make(watch(texts.slice(0, 2)));
      expect(shown(sides)).toEqual(['0/0 python', '0/0 graph.dynamo']);
    });

    it('shows a text twice where there is no other', () => {
      const { sides } = make(watch(texts.slice(0, 1)));
      expect(shown(sides)).toEqual(['0/0 python', '0/0 python']);
    });

    it('puts a recompile beside the compilation before, of its frame', () => {
      const { model, sides } = make(watch());
      model.compilation = '0/1';
      model.compilationChanged.emit('0/1');
      expect(shown(sides)).toEqual(['0/1 python', '0/0 python']);
      model.compilation = '1/0';
      model.compilationChanged.emit('1/0');
      expect(shown(sides)).toEqual(['1/0 python', '1/0 graph.post_grad']);
    });

    it('keeps what the user picked, be it the same text', () => {
      const { model, sides } = make(watch());
      sides.pick('right', { artifact: 'python' });
      expect(shown(sides)).toEqual(['0/0 python', '0/0 python']);
      model.compilation = '0/1';
      model.compilationChanged.emit('0/1');
      expect(shown(sides)).toEqual(['0/1 python', '0/1 python']);
    });

    it('keeps the compilation that the user picked', () => {
      const { model, sides } = make(watch());
      model.compilation = '0/1';
      model.compilationChanged.emit('0/1');
      sides.pick('right', { compilation: '0/1' });
      expect(shown(sides)).toEqual(['0/1 python', '0/1 graph.post_grad']);
    });

    it('swaps what it chose itself', () => {
      const { model, sides } = make(watch());
      model.compilation = '0/1';
      model.compilationChanged.emit('0/1');
      sides.swap();
      expect(shown(sides)).toEqual(['0/0 python', '0/1 python']);
      sides.swap();
      expect(shown(sides)).toEqual(['0/1 python', '0/0 python']);
    });
  });

  it('does not ask for what cannot exist', () => {
    const { model, sides } = make(
      report([variant('eager', [], { backend: null })])
    );
    expect(model.asked).toEqual([]);
    expect(sides.loader('left').state.kind).toBe('missing');
  });

  it('hears nothing after it is disposed', () => {
    const { model, sides } = make();
    sides.dispose();
    model.asked = [];
    model.report = { ...both, revision: 3 };
    model.reportChanged.emit();
    expect(model.asked).toEqual([]);
  });
});
