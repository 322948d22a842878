import { readFileSync } from 'fs';
import path from 'path';
import { SubjectModel } from '../../src/model/subject';
import { FileConnection, readReport } from '../../src/model/file';
import { RequestError } from '../../src/protocol/client';
import type { Commands, Problem, Report } from '../../src/protocol/types';
import { settle } from './fakes';

const DATA = path.join(__dirname, '../data');

interface IKept {
  report: string;
  command: keyof Commands;
  arguments: Record<string, unknown>;
  answer: { error?: Problem | null };
}

const kept: IKept[] = JSON.parse(read('protocol/answers.json'));

function read(name: string): string {
  return readFileSync(path.join(DATA, name), 'utf8');
}

function textOf(name: string): string {
  return read(`reports/${name}.compilescope.json`);
}

describe('FileConnection', () => {
  const connections = new Map(
    ['breaks', 'training', 'targets'].map(name => [
      name,
      new FileConnection(readReport(textOf(name)))
    ])
  );

  it.each(
    kept.map((each, index): [string, IKept] => [
      `${index} ${each.report} ${each.command}`,
      each
    ])
  )('answers as the kernel does: %s', async (_, each) => {
    const connection = connections.get(each.report)!;
    const answer = connection.request(each.command, each.arguments as never);
    if (each.answer.error) {
      await expect(answer).rejects.toMatchObject({
        problem: each.answer.error
      });
    } else {
      expect(await answer).toEqual(each.answer);
    }
  });

  it('says that there is no kernel', async () => {
    const connection = connections.get('breaks')!;
    await expect(
      connection.request('start_run', { subject: 's', variants: [] })
    ).rejects.toThrow(/no kernel behind it/);
  });

  it('serves a model', async () => {
    const model = new SubjectModel();
    model.connection = new FileConnection(readReport(textOf('training')));
    await settle();
    expect(model.isLive).toBe(false);
    expect(model.report?.variants.map(each => each.name)).toContain('cpp');
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

  it('keeps what a later version added', () => {
    const report = { ...JSON.parse(text), later: { added: [1] } };
    expect(readReport(JSON.stringify(report))).toMatchObject({
      later: { added: [1] }
    });
  });
});
