import { readFileSync } from 'fs';
import path from 'path';
import { SubjectModel } from '../../../src/model/subject';
import { FileConnection, readReport } from '../../../src/model/file';
import { RequestError, problem } from '../../../src/protocol/client';
import type {
  Commands,
  Package,
  Problem,
  Report
} from '../../../src/protocol/types';
import { settle } from '../support/fakes';
import { graphOf } from '../support/structs';

const DATA = path.join(__dirname, '../../data');

interface IKept {
  report: string;
  command: keyof Commands;
  arguments: Record<string, unknown>;
  answer: { error?: Problem | null };
}

const answers: IKept[] = JSON.parse(read('protocol/answers.json'));

function read(name: string): string {
  return readFileSync(path.join(DATA, name), 'utf8');
}

function textOf(name: string): string {
  return read(`reports/${name}.compilescope.json`);
}

function packageOf(text: string): Package {
  const files = [{ path: 'CMakeLists.txt', text }];
  return { files, absent: {} } as unknown as Package;
}

describe('FileConnection', () => {
  const connections = new Map(
    ['breaks', 'training', 'targets'].map(name => [
      name,
      new FileConnection(readReport(textOf(name)))
    ])
  );

  it.each(
    answers.map((exchange, index): [string, IKept] => [
      `${index} ${exchange.report} ${exchange.command}`,
      exchange
    ])
  )('answers as the kernel does: %s', async (_, exchange) => {
    const connection = connections.get(exchange.report)!;
    const answer = connection.request(
      exchange.command,
      exchange.arguments as never
    );
    if (exchange.answer.error) {
      await expect(answer).rejects.toMatchObject({
        problem: { why: exchange.answer.error.why }
      });
    } else {
      expect(await answer).toMatchObject(exchange.answer);
    }
  });

  it('answers with the report’s own structs', async () => {
    const report = readReport(textOf('training'));
    const connection = new FileConnection(report);
    const [variant] = report.variants;
    const [compilation] = variant.compilations;
    const which = { subject: '', variant: variant.name };
    expect((await connection.request('get_variant', which)).variant).toBe(
      variant
    );
    const { compilation: answered } = await connection.request(
      'get_compilation',
      { ...which, compilation: compilation.id, parts: ['kernels'] }
    );
    expect(answered).toBe(compilation);
    connection.dispose();
  });

  it('reads fields under their earlier names', () => {
    const earlier = textOf('recompiles')
      .replace(/"initial_state":"\w+"/g, '"keeping":"copied"')
      .replace(/"eager_fallback":false/g, '"given_up":true');
    const { variants } = readReport(earlier);
    const timings = variants.flatMap(each => each.timing ?? []);
    expect(timings.map(each => each.initial_state)).toContain('copied');
    const recompiles = variants[0].compilations.flatMap(
      each => each.recompile ?? []
    );
    expect(recompiles[0].eager_fallback).toBe(true);
  });

  it('finds graphs that the file has once', async () => {
    const report = readReport(textOf('training'));
    const [python, cpp] = report.variants;
    const { graphs, id } = cpp.compilations[0];
    const { dynamo, joint } = python.compilations[0].graphs;
    graphs.joint = graphOf('joint', [], { same_as: ['python', 'joint'] });
    graphs.dynamo = graphOf('dynamo', [], { same_as: ['gone', 'dynamo'] });
    const connection = new FileConnection(report);
    const which = { subject: '', variant: 'cpp', compilation: id };
    const graph = async (stage: string) =>
      (await connection.request('get_graph', { ...which, stage })).graph;
    expect((await graph('joint')).nodes).toBe(joint.nodes);
    expect((await graph('dynamo')).nodes).toEqual([]);
    const { text } = await connection.request('get_artifact', {
      ...which,
      artifact: 'graph.joint'
    });
    expect(text).toBe(joint.text);
    expect(dynamo.text).not.toBe('');
    connection.dispose();
  });

  it.each([
    [true, 'Choose another artifact.'],
    [false, '']
  ])('advises another artifact if there is one: %s', async (isOne, remedy) => {
    const report = readReport(textOf('training'));
    const [stored] = report.contents!.variants[0].compilations;
    stored.texts = stored.texts.filter(() => isOne);
    const connection = new FileConnection(report);
    const answer = connection.request('get_artifact', {
      subject: '',
      variant: report.variants[0].name,
      compilation: report.variants[0].compilations[0].id,
      artifact: 'cpp'
    });
    await expect(answer).rejects.toMatchObject({ problem: { remedy } });
    connection.dispose();
  });

  it('reads the files of a package', async () => {
    const report = readReport(textOf('training'));
    const name = 'package:CMakeLists.txt';
    report.variants[0].package = packageOf('project()');
    report.contents!.variants[0].package = [
      {
        ...report.contents!.variants[0].compilations[0].texts[0],
        name,
        text: 'package/files/0/text',
        regions: '',
        listed: false
      }
    ];
    const connection = new FileConnection(report);
    const { text } = await connection.request('get_artifact', {
      subject: '',
      variant: report.variants[0].name,
      compilation: '',
      artifact: name
    });
    expect(text).toBe('project()');
    connection.dispose();
  });

  it('refuses a file that does not list its texts', () => {
    const report = { ...readReport(textOf('training')), contents: null };
    expect(() => new FileConnection(report)).toThrow(/earlier compilescope/);
  });

  it('says that there is no kernel', async () => {
    const connection = connections.get('breaks')!;
    await expect(
      connection.request('start_run', { subject: 's', variants: [] })
    ).rejects.toThrow(/it has no kernel/);
  });

  it('serves a model', async () => {
    const model = new SubjectModel();
    model.connection = new FileConnection(readReport(textOf('training')));
    await settle();
    expect(model.isLive).toBe(false);
    expect(model.report?.variants.map(({ name }) => name)).toContain('cpp');
    const { compilation, variant } = model;
    const { kernels } = await model.getCompilation(variant, compilation, [
      'kernels'
    ]);
    expect(kernels.length).toBeGreaterThan(0);
    model.dispose();
  });
});

describe('readReport', () => {
  const text = textOf('training');

  it.each([
    ['', /not JSON/],
    [text.slice(0, -100), /cut off/],
    ['[]', /not a report/],
    ['{}', /at \$\.subject/],
    ['{"schema_version": 2}', /later compilescope/],
    [text.replace('"variants":[', '"variants":[7,'), /\$\.variants\[0\]/]
  ])('refuses what is none: %#', (damaged, message) => {
    let error: unknown;
    try {
      readReport(damaged);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(RequestError);
    const { what, why, remedy } = (error as RequestError).problem;
    expect(`${what} ${why}`).toMatch(message);
    expect(remedy).not.toBe('');
  });

  it('fills in what an earlier version did not have', () => {
    const report = JSON.parse(text) as Report;
    const [variant] = report.variants;
    const [compilation] = variant.compilations;
    const whole = readReport(text).variants[0].compilations[0];
    for (const name of ['guard_tree', 'crossings', 'started_s'] as const) {
      delete (compilation as Partial<typeof compilation>)[name];
    }
    const before = readReport(JSON.stringify(report)).variants[0];
    expect(before.compilations[0]).toEqual({
      ...whole,
      guard_tree: [],
      crossings: [],
      started_s: null
    });
  });

  it('lists the problems of a file of an earlier version', async () => {
    const earlier = JSON.parse(textOf('training'));
    const { name } = earlier.variants[1];
    delete earlier.contents.listed_problems;
    earlier.problems = [problem({ what: 'of the report' })];
    earlier.variants[1].problems = [problem({ what: 'of a variant' })];
    const connection = new FileConnection(readReport(JSON.stringify(earlier)));
    const { listed_problems } = await connection.request('get_report', {
      subject: earlier.subject.id
    });
    expect(
      listed_problems.map(({ problem, variants }) => [problem.what, variants])
    ).toEqual([
      ['of the report', []],
      ['of a variant', [name]]
    ]);
  });

  it('names variants to show of a file of an earlier version', async () => {
    const earlier = JSON.parse(textOf('training'));
    const { contents } = earlier;
    delete contents.sides;
    for (const { summary } of contents.variants) {
      delete summary.has_cpp_wrapper;
      delete summary.other_wrapper;
    }
    contents.variants[0].summary.recorded = true;
    const connection = new FileConnection(readReport(JSON.stringify(earlier)));
    const { sides, variants } = await connection.request('get_report', {
      subject: earlier.subject.id
    });
    expect(
      variants.map(variant => [
        variant.name,
        variant.has_cpp_wrapper,
        variant.other_wrapper
      ])
    ).toEqual([
      ['python', false, 'cpp'],
      ['cpp', true, 'python'],
      ['eager', false, '']
    ]);
    expect(sides).toEqual({ left: 'cpp', right: 'cpp' });
  });

  it('keeps what a later version added', () => {
    const report = { ...JSON.parse(text), later: { added: [1] } };
    expect(readReport(JSON.stringify(report))).toMatchObject({
      later: { added: [1] }
    });
  });
});
