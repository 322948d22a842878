import type { SubjectModel } from '../../../src/model/subject';
import type { JobState } from '../../../src/protocol/types';
import type { FakeConnection } from '../support/fakes';
import {
  job,
  report,
  settle,
  subjectSummary,
  variant,
  variantSummary
} from '../support/fakes';
import { eachInspectedModel } from '../support/models';

describe('The switches of a SubjectModel', () => {
  let connection: FakeConnection;
  let model: SubjectModel;
  eachInspectedModel((...both) => ([connection, model] = both));

  async function flip(change: Parameters<SubjectModel['setRequested']>[0]) {
    model.setRequested(change);
    jest.advanceTimersByTime(200);
    await settle();
  }

  const asked = () =>
    connection.log.filter(([command]) => command === 'add_variant');

  const answerVariant = (
    name: string,
    revision: number,
    started: JobState | null = null,
    code = ''
  ) => connection.answer('add_variant', { name, revision, job: started, code });

  const announceReport = (revision: number, changed: string[] | null = null) =>
    connection.event.emit({
      event: 'report_changed',
      data: { subject: 'f', revision, variants: changed }
    });

  const announceSubject = (revision: number) =>
    connection.event.emit({
      event: 'subjects_changed',
      data: {
        subjects: [subjectSummary('f', revision)],
        focus: 'f',
        offer: null
      }
    });

  const announceJob = (changed: JobState) =>
    connection.event.emit({ event: 'job_changed', data: { job: changed } });

  /** The report with the variant max-autotune, which it did not have. */
  function grownReport() {
    const grown = report('f', { revision: 2 });
    grown.variants.push(
      variantSummary('max-autotune', { mode: 'max-autotune' })
    );
    return grown;
  }

  /** Requests max-autotune; its report is announced before the answer. */
  async function flipAndAnnounce() {
    await flip({ mode: 'max-autotune' });
    announceReport(2);
  }

  it('asks once for flips in quick succession', async () => {
    model.setRequested({ mode: 'max-autotune' });
    model.setRequested({ mode: 'max-autotune', dynamic: true });
    expect(asked()).toEqual([]);
    expect(model.pending).toBe(true);
    jest.advanceTimersByTime(200);
    expect(asked()).toEqual([
      [
        'add_variant',
        {
          subject: 'f',
          variant: variant({ mode: 'max-autotune', dynamic: true })
        }
      ]
    ]);
  });

  it('does not ask for what is wanted already', async () => {
    await flip({ cpp_wrapper: false, mode: 'default' });
    expect(asked()).toEqual([]);
  });

  it('shows a variant that the report has at once, on its side', async () => {
    model.setRequested({ cpp_wrapper: true });
    await settle();
    expect(model.variant).toBe('cpp');
    expect(model.selectedVariants).toEqual({ left: 'python', right: 'cpp' });
    expect(model.pending).toBe(false);
    expect(asked()).toEqual([]);
  });

  it('gets the code that was generated ahead in one round trip', async () => {
    const settings = variant({ mode: 'max-autotune' });
    announceReport(2);
    await connection.answer('get_report', {
      ...report('f', { revision: 2 }),
      ready: [settings]
    });
    void model.getArtifact('python', '0/0', 'python');
    connection.asked.pop();
    model.setRequested(settings);
    expect(connection.asked.map(({ command }) => command)).toEqual([
      'add_variant',
      'get_report'
    ]);
    announceReport(3, ['max-autotune']);
    expect(connection.asked.pop()).toMatchObject({
      command: 'get_artifact',
      args: { variant: 'max-autotune', artifact: 'python' }
    });
    await answerVariant('max-autotune', 3);
    await connection.answer('get_report', { ...grownReport(), revision: 3 });
    expect(model.selectedVariants.left).toBe('max-autotune');
    expect(model.pending).toBe(false);
    expect(connection.asked).toEqual([]);
  });

  it('gets the report anew for a variant that is new', async () => {
    await flip({ mode: 'max-autotune' });
    await answerVariant('max-autotune', 2);
    expect(model.pending).toBe(true);
    await connection.answer('get_report', grownReport());
    expect(model.pending).toBe(false);
    expect(model.selectedVariants).toEqual({
      left: 'max-autotune',
      right: 'cpp'
    });
  });

  it('waits for the report that the kernel has announced before its answer', async () => {
    await flipAndAnnounce();
    await answerVariant('max-autotune', 2);
    await connection.answer('get_report', grownReport());
    expect(model.pending).toBe(false);
    expect(model.selectedVariants.left).toBe('max-autotune');
    expect(connection.asked.map(({ command }) => command)).not.toContain(
      'get_report'
    );
  });

  it('requests the report again if the one on its way is older', async () => {
    await flipAndAnnounce();
    await answerVariant('max-autotune', 3);
    await connection.answer('get_report', report('f', { revision: 2 }));
    expect(connection.asked.map(({ command }) => command)).toContain(
      'get_report'
    );
  });

  it('drops the answer to a setting that was left again', async () => {
    await flip({ mode: 'max-autotune' });
    await flip({ mode: null, fullgraph: true });
    await answerVariant('max-autotune', 1);
    expect(model.pending).toBe(true);
    expect(model.selectedVariants.left).toBe('python');
    expect(model.requested.fullgraph).toBe(true);
  });

  it('cancels the job of a setting that was left, unless it is set again', async () => {
    const answer = (name: string, id: string) =>
      answerVariant(name, 1, job({ id }), 'go()');
    const cancelled = () =>
      connection.log.filter(([command]) => command === 'cancel');
    await flip({ dynamic: true });
    await flip({ dynamic: false });
    await flip({ dynamic: true });
    await answer('python dynamic', 'job-1');
    expect(cancelled()).toEqual([]);
    await answer('python static', 'job-2');
    expect(cancelled()).toEqual([['cancel', { job: 'job-2' }]]);
    await answer('python dynamic', 'job-1');
    expect(connection.execute).toHaveBeenCalledTimes(1);
    expect(model.job?.id).toBe('job-1');
  });

  it('drops the error of a setting that was left again', async () => {
    await flip({ mode: 'max-autotune' });
    await flip({ mode: null });
    await connection.answer('add_variant', new Error('too late'));
    expect(model.problem).toBeNull();
  });

  it('shows the error of the setting that is wanted', async () => {
    await flip({ mode: 'max-autotune' });
    await connection.answer('add_variant', new Error('no such mode'));
    expect(model.problem?.what).toBe('no such mode');
    expect(model.pending).toBe(false);
  });

  it('starts the job that a variant needs, and waits for its end', async () => {
    await flip({ dynamic: true });
    await answerVariant('dynamic', 1, job(), 'go()');
    expect(connection.execute).toHaveBeenCalledWith(
      'go()',
      expect.any(Function)
    );
    expect(model.pending).toBe(true);
    announceJob(job({ state: 'failed' }));
    expect(model.pending).toBe(false);
  });

  it('asks again where another process could not generate the code', async () => {
    await flip({ dynamic: true });
    const elsewhere = job({ aside: true, state: 'running' });
    await answerVariant('python dynamic', 1, elsewhere);
    announceJob({ ...elsewhere, state: 'done', needs_main_thread: true });
    expect(model.pending).toBe(true);
    expect(asked().length).toBe(2);
    await answerVariant('python dynamic', 1, job({ id: 'job-2' }), 'go()');
    expect(connection.execute).toHaveBeenCalledTimes(1);
    expect(model.pending).toBe(true);
  });

  it('asks again where the end of the job overtakes the answer', async () => {
    await flip({ dynamic: true });
    const elsewhere = job({ aside: true, state: 'running' });
    announceJob({ ...elsewhere, state: 'done', needs_main_thread: true });
    await answerVariant('python dynamic', 1, elsewhere);
    expect(asked().length).toBe(2);
    expect(model.pending).toBe(true);
  });

  async function flipAndCancel() {
    await flip({ dynamic: true });
    await answerVariant(
      'python dynamic',
      1,
      job({ aside: true, state: 'running' }),
      ''
    );
    expect(connection.execute).not.toHaveBeenCalled();
    announceJob(job({ aside: true, state: 'cancelled' }));
  }

  it('shows what there is after a cancel, and resumes when asked to', async () => {
    await flipAndCancel();
    expect(model.pending).toBe(false);
    expect(model.requested.dynamic).toBeNull();
    await model.resume();
    jest.advanceTimersByTime(200);
    expect(asked()).toHaveLength(2);
    expect(asked()[1]).toEqual(asked()[0]);
  });

  it('resumes a build that was canceled after that', async () => {
    await flipAndCancel();
    announceJob(job({ id: 'a later build', state: 'cancelled' }));
    void model.resume();
    jest.advanceTimersByTime(200);
    expect(asked()).toHaveLength(1);
    expect(connection.log.map(([command]) => command)).toContain('start_run');
  });

  it('follow the variant that is shown', () => {
    model.variant = 'cpp';
    expect(model.requested.cpp_wrapper).toBe(true);
    model.variant = 'python';
    expect(model.requested.cpp_wrapper).toBe(false);
  });

  it('turn to what the cell asks for when it is run again', async () => {
    announceSubject(2);
    const rerun = (revision: number, names: string[]) => {
      announceReport(revision);
      const whole = names.map(name =>
        variantSummary(name, {
          fullgraph: true,
          cpp_wrapper: name.startsWith('cpp')
        })
      );
      const variants = [...report('f').variants, ...whole];
      const asked = ['python fullgraph', 'cpp fullgraph'];
      return connection.answer(
        'get_report',
        report('f', { revision, variants, asked })
      );
    };
    await rerun(2, []);
    expect(model.requested.fullgraph).toBe(false);
    await rerun(3, ['python fullgraph']);
    expect(model.requested.fullgraph).toBe(true);
    await rerun(4, ['python fullgraph', 'cpp fullgraph']);
    expect(model.selectedVariants).toEqual({
      left: 'python fullgraph',
      right: 'cpp fullgraph'
    });
    expect(model.requested).toMatchObject({
      fullgraph: true,
      cpp_wrapper: false
    });
    // From here on the choice is the user's.
    model.selectedVariants = { left: 'python', right: 'cpp' };
    await rerun(5, ['python fullgraph', 'cpp fullgraph']);
    expect(model.selectedVariants.left).toBe('python');
  });

  const targets = ['python on A100', 'python on H100'];

  /** The report of a cell for two targets, with the variants that it has so far. */
  const grown = (revision: number, names: string[]) =>
    report('f', {
      revision,
      variants: [
        ...report('f').variants,
        ...names.map(name => variantSummary(name, { target: name }))
      ],
      asked: targets
    });

  it('turns to the targets of a cell that ended the work of a switch', async () => {
    model.selectedVariants = { left: 'cpp', right: 'cpp' };
    announceSubject(2);
    announceReport(2);
    // What the switch requested ends once the cell has begun.
    announceJob(job({ id: 'job-1', aside: true, state: 'cancelled' }));
    announceJob(job({ id: 'job-2', state: 'running' }));
    await connection.answer('get_report', grown(2, []));
    await connection.answer('get_report', grown(2, []));
    announceReport(3);
    await connection.answer('get_report', grown(3, targets));
    expect(model.selectedVariants).toEqual({
      left: targets[0],
      right: targets[1]
    });
  });

  it('turns to two targets of a call that was inspected before', async () => {
    announceReport(2);
    announceSubject(3);
    // Asked before the cell ran, answered after.
    await connection.answer('get_report', report('f', { revision: 2 }));
    announceReport(4, [targets[0]]);
    await connection.answer('get_report', grown(4, targets.slice(0, 1)));
    expect(model.selectedVariants.left).toBe(targets[0]);
    // The news of the end overtakes that of the last variant.
    announceJob(job({ state: 'done' }));
    await connection.answer('get_report', grown(5, targets));
    expect(model.selectedVariants).toEqual({
      left: targets[0],
      right: targets[1]
    });
    announceReport(6, [targets[1]]);
    model.selectedVariants = { left: 'python', right: 'cpp' };
    await connection.answer('get_report', grown(6, targets));
    expect(model.selectedVariants.left).toBe('python');
  });

  it('keeps what was measured beside the code for a target', async () => {
    const target = variantSummary('python on H100', { target: 'H100' });
    const sides = { left: 'python', right: target.name };
    announceSubject(2);
    announceReport(3);
    const variants = [
      variantSummary('python', {}, { median_us: 50 }),
      variantSummary('cpp', { cpp_wrapper: true }, { median_us: 40 }),
      target
    ];
    await connection.answer(
      'get_report',
      report('f', { revision: 3, variants, asked: [target.name], sides })
    );
    expect(model.selectedVariants).toEqual(sides);
    expect(model.variant).toBe('python');
  });

  it('turns to a variant of the table', () => {
    model.showVariant('cpp');
    expect(model.requested.cpp_wrapper).toBe(true);
    model.showVariant('eager');
    expect(model.requested.backend).toBeNull();
    expect(model.selectedVariants).toEqual({ left: 'python', right: 'cpp' });
  });
});
