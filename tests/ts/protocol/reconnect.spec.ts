import { readFileSync } from 'fs';
import * as path from 'path';
import type { SubjectModel } from '../../../src/model/subject';
import { Connection } from '../../../src/protocol/connection';
import type { JobState } from '../../../src/protocol/types';
import type { FakeConnection } from '../support/fakes';
import { job, report, settle, subjectSummary } from '../support/fakes';
import { fakeKernel } from '../support/kernel';
import { eachInspectedModel } from '../support/models';

/**
 * News that is missed, and kernels that go away.
 */
// jsdom cannot unpack gzip.
jest.mock('../../../src/model/file/packed', () => ({
  unpackReport: (packed: string) => Promise.resolve(packed)
}));

describe('A SubjectModel whose connection was lost', () => {
  let connection: FakeConnection;
  let model: SubjectModel;
  eachInspectedModel((...both) => ([connection, model] = both));

  const asked = (command: string) =>
    connection.log.filter(([requested]) => requested === command).length;

  async function run(): Promise<() => boolean> {
    void model.run();
    await connection.answer('start_run', { job: job(), code: 'go()' });
    return connection.execute.mock.calls.at(-1)![1]!;
  }

  async function requestDynamic(): Promise<void> {
    model.setRequested({ dynamic: true });
    jest.advanceTimersByTime(200);
    await settle();
    await connection.answer('add_variant', {
      name: 'python dynamic',
      revision: 1,
      job: job({ aside: true, state: 'running' }),
      code: ''
    });
  }

  const hello = (state: Parameters<FakeConnection['hello']>[0] = {}) =>
    connection.hello({ subjects: [subjectSummary('f')], ...state });

  it('runs the job of the next kernel that has the id of a canceled one', async () => {
    const isWanted = await run();
    void model.cancel();
    await connection.answer('cancel', {});
    expect(isWanted()).toBe(false);
    connection.setStatus({ kind: 'connecting', isRestart: true });
    hello();
    expect((await run())()).toBe(true);
  });

  it('shows no error of a job that ended with its kernel', async () => {
    connection.execute.mockRejectedValueOnce(new Error('Canceled future'));
    await run();
    connection.setStatus({ kind: 'dead' });
    jest.advanceTimersByTime(1000);
    await settle();
    expect(model.problem).toBeNull();
  });

  it('hears that a job has ended of which nothing is known any more', async () => {
    await requestDynamic();
    expect(model.pending).toBe(true);
    hello({ jobs: [job({ aside: true, state: 'running' })] });
    expect(model.pending).toBe(true);
    hello();
    expect(model.pending).toBe(false);
  });

  it('hears of the end of a job that another one follows', async () => {
    await requestDynamic();
    hello({ jobs: [job({ id: 'job-2', state: 'running' })] });
    expect(model.pending).toBe(false);
    expect(model.job?.id).toBe('job-2');
  });

  it('does not take a job for ended that others run beside or before', async () => {
    await requestDynamic();
    const aside = job({ aside: true, state: 'running' });
    const queued = job({ id: 'job-3' });
    const later = job({ id: 'job-4', aside: true, state: 'running' });
    const cell = job({ id: 'job-5', state: 'running' });
    const shown = (jobs: JobState[]) => {
      hello({ jobs });
      return [model.pending, model.job?.id, model.job?.state];
    };
    expect(shown([cell, queued, aside, later])).toEqual([
      true,
      'job-5',
      'running'
    ]);
    expect(shown([queued, aside, later])).toEqual([true, 'job-3', 'queued']);
    expect(shown([aside, later])).toEqual([true, 'job-4', 'running']);
    expect(shown([aside])).toEqual([true, 'job-1', 'running']);
    expect(shown([])).toEqual([false, undefined, undefined]);
  });

  it('fetches the report to keep once it hears that the work has ended', async () => {
    connection.event.emit({
      event: 'job_changed',
      data: { job: job({ state: 'running' }) }
    });
    jest.advanceTimersByTime(2000);
    await settle();
    expect(asked('save_report')).toBe(0);
    hello();
    jest.advanceTimersByTime(2000);
    await settle();
    expect(asked('save_report')).toBe(1);
  });

  it('loads the report again that failed to load the last time', async () => {
    const changed = { subjects: [subjectSummary('f', 2)] };
    hello(changed);
    await connection.answer('get_report', new Error('lost'));
    expect(model.report?.revision).toBe(1);
    hello(changed);
    await connection.answer('get_report', report('f', { revision: 2 }));
    hello(changed);
    expect(model.report?.revision).toBe(2);
    expect(connection.asked.map(({ command }) => command)).not.toContain(
      'get_report'
    );
  });

  it('opens a kept report of another subject when no kernel is left', async () => {
    const file = '../../data/reports/mlp.compilescope.json';
    const text = readFileSync(path.join(__dirname, file), 'utf8');
    const { id } = JSON.parse(text).subject;
    const tell = (ids: string[]) =>
      connection.event.emit({
        event: 'subjects_changed',
        data: {
          subjects: ids.map(name => subjectSummary(name)),
          focus: ids[0],
          offer: null
        }
      });
    tell([id, 'f']);
    await connection.answer('get_report', report(id));
    jest.advanceTimersByTime(2000);
    await settle();
    // Both of the reports, the first one as a page before, which has no script.
    for (let fetched = 0; fetched < 3; fetched++) {
      await connection.answer('save_report', { filename: '', text });
    }
    tell(['f', id]);
    await connection.answer('get_report', report('f'));
    model.connection = null;
    model.subject = id;
    // It is read in chunks that are loaded first.
    jest.useRealTimers();
    while (!model.report) {
      await new Promise(resolve => setTimeout(resolve));
    }
    expect(model.report?.subject.id).toBe(id);
  });
});

it('A connection to a kernel that is disposed opens nothing', async () => {
  const fake = fakeKernel();
  const connection = new Connection(fake.kernel);
  (fake.kernel as { isDisposed: boolean }).isDisposed = true;
  const changed = jest.fn();
  connection.statusChanged.connect(changed);
  await connection.open();
  expect(changed).not.toHaveBeenCalled();
  connection.dispose();
});
