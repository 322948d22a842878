import type { SubjectModel } from '../../../src/model/subject';
import { problem } from '../../../src/protocol/client';
import type { FakeConnection } from '../support/fakes';
import {
  inspectedModel,
  job,
  report,
  settle,
  subjectSummary,
  variant,
  variantSummary
} from '../support/fakes';

describe('The work of a SubjectModel', () => {
  let connection: FakeConnection;
  let model: SubjectModel;

  beforeEach(async () => {
    [connection, model] = await inspectedModel();
  });

  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });

  describe('switches', () => {
    async function flip(change: Parameters<SubjectModel['setRequested']>[0]) {
      model.setRequested(change);
      jest.advanceTimersByTime(200);
      await settle();
    }

    const asked = () =>
      connection.log.filter(([command]) => command === 'add_variant');

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

    it('shows a variant that the report has, on its side', async () => {
      await flip({ cpp_wrapper: true });
      await connection.answer('add_variant', {
        name: 'cpp',
        revision: 1,
        job: null,
        code: ''
      });
      expect(model.selectedVariants).toEqual({ left: 'python', right: 'cpp' });
      expect(model.pending).toBe(false);
    });

    it('gets the report anew for a variant that is new', async () => {
      await flip({ mode: 'max-autotune' });
      await connection.answer('add_variant', {
        name: 'max-autotune',
        revision: 2,
        job: null,
        code: ''
      });
      expect(model.pending).toBe(true);
      const grown = report('f', { revision: 2 });
      grown.variants.push(
        variantSummary('max-autotune', { mode: 'max-autotune' })
      );
      await connection.answer('get_report', grown);
      expect(model.pending).toBe(false);
      expect(model.selectedVariants).toEqual({
        left: 'max-autotune',
        right: 'cpp'
      });
    });

    it('waits for the report that the kernel has announced before its answer', async () => {
      await flip({ mode: 'max-autotune' });
      connection.event.emit({
        event: 'report_changed',
        data: { subject: 'f', revision: 2, variant: null }
      });
      await connection.answer('add_variant', {
        name: 'max-autotune',
        revision: 2,
        job: null,
        code: ''
      });
      const grown = report('f', { revision: 2 });
      grown.variants.push(
        variantSummary('max-autotune', { mode: 'max-autotune' })
      );
      await connection.answer('get_report', grown);
      expect(model.pending).toBe(false);
      expect(model.selectedVariants.left).toBe('max-autotune');
      expect(connection.asked.map(({ command }) => command)).not.toContain(
        'get_report'
      );
    });

    it('requests the report again if the one on its way is older', async () => {
      await flip({ mode: 'max-autotune' });
      connection.event.emit({
        event: 'report_changed',
        data: { subject: 'f', revision: 2, variant: null }
      });
      await connection.answer('add_variant', {
        name: 'max-autotune',
        revision: 3,
        job: null,
        code: ''
      });
      await connection.answer('get_report', report('f', { revision: 2 }));
      expect(connection.asked.map(({ command }) => command)).toContain(
        'get_report'
      );
    });

    it('drops the answer to a setting that was left again', async () => {
      await flip({ mode: 'max-autotune' });
      await flip({ mode: null, fullgraph: true });
      await connection.answer('add_variant', {
        name: 'max-autotune',
        revision: 1,
        job: null,
        code: ''
      });
      expect(model.pending).toBe(true);
      expect(model.selectedVariants.left).toBe('python');
      expect(model.requested.fullgraph).toBe(true);
    });

    it('cancels the job of a setting that was left, unless it is set again', async () => {
      const answer = (name: string, id: string) =>
        connection.answer('add_variant', {
          name,
          revision: 1,
          job: job({ id }),
          code: 'go()'
        });
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
      await connection.answer('add_variant', {
        name: 'dynamic',
        revision: 1,
        job: job(),
        code: 'go()'
      });
      expect(connection.execute).toHaveBeenCalledWith(
        'go()',
        expect.any(Function)
      );
      expect(model.pending).toBe(true);
      connection.event.emit({
        event: 'job_changed',
        data: { job: job({ state: 'failed' }) }
      });
      expect(model.pending).toBe(false);
    });

    async function flipAndCancel() {
      await flip({ dynamic: true });
      await connection.answer('add_variant', {
        name: 'python dynamic',
        revision: 1,
        job: job({ aside: true, state: 'running' }),
        code: ''
      });
      expect(connection.execute).not.toHaveBeenCalled();
      connection.event.emit({
        event: 'job_changed',
        data: { job: job({ aside: true, state: 'cancelled' }) }
      });
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
      connection.event.emit({
        event: 'job_changed',
        data: { job: job({ id: 'a later build', state: 'cancelled' }) }
      });
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
      connection.event.emit({
        event: 'subjects_changed',
        data: { subjects: [subjectSummary('f', 2)], focus: 'f', offer: null }
      });
      const rerun = (revision: number, names: string[]) => {
        connection.event.emit({
          event: 'report_changed',
          data: { subject: 'f', revision, variant: null }
        });
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

    it('turns to two targets of a call that was inspected before', async () => {
      const before = report('f');
      const targets = ['python on A100', 'python on H100'];
      const grown = (revision: number, names: string[]) =>
        report('f', {
          revision,
          variants: [
            ...before.variants,
            ...names.map(name => variantSummary(name, { target: name }))
          ],
          asked: targets
        });
      connection.event.emit({
        event: 'report_changed',
        data: { subject: 'f', revision: 2, variant: null }
      });
      connection.event.emit({
        event: 'subjects_changed',
        data: { subjects: [subjectSummary('f', 3)], focus: 'f', offer: null }
      });
      // Asked before the cell ran, answered after.
      await connection.answer('get_report', report('f', { revision: 2 }));
      connection.event.emit({
        event: 'report_changed',
        data: { subject: 'f', revision: 4, variant: targets[0] }
      });
      await connection.answer('get_report', grown(4, targets.slice(0, 1)));
      expect(model.selectedVariants.left).toBe(targets[0]);
      // The news of the end overtakes that of the last variant.
      connection.event.emit({
        event: 'job_changed',
        data: { job: job({ state: 'done' }) }
      });
      await connection.answer('get_report', grown(5, targets));
      expect(model.selectedVariants).toEqual({
        left: targets[0],
        right: targets[1]
      });
      connection.event.emit({
        event: 'report_changed',
        data: { subject: 'f', revision: 6, variant: targets[1] }
      });
      model.selectedVariants = { left: 'python', right: 'cpp' };
      await connection.answer('get_report', grown(6, targets));
      expect(model.selectedVariants.left).toBe('python');
    });

    it('keeps what was measured beside the code for a target', async () => {
      const target = variantSummary('python on H100', { target: 'H100' });
      const sides = { left: 'python', right: target.name };
      connection.event.emit({
        event: 'subjects_changed',
        data: { subjects: [subjectSummary('f', 2)], focus: 'f', offer: null }
      });
      connection.event.emit({
        event: 'report_changed',
        data: { subject: 'f', revision: 3, variant: null }
      });
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

  describe('jobs', () => {
    async function run(): Promise<void> {
      // The code runs until the test ends it.
      connection.execute.mockReturnValueOnce(new Promise(() => undefined));
      void model.run();
      await connection.answer('start_run', { job: job(), code: 'go()' });
    }

    it('began when the kernel says that they did', () => {
      const now = Date.now();
      const report = (change: Parameters<typeof job>[0]) =>
        connection.event.emit({
          event: 'job_changed',
          data: { job: job(change) }
        });
      report({ state: 'running', elapsed_s: 40 });
      expect(model.jobSince).toBe(now - 40_000);
      jest.advanceTimersByTime(5_000);
      report({ state: 'running', step: 'next', elapsed_s: 44 });
      expect(model.jobSince).toBe(now - 40_000);
    });

    it('executes what the kernel answers', async () => {
      await run();
      expect(connection.execute).toHaveBeenCalledWith(
        'go()',
        expect.any(Function)
      );
      expect(model.job?.state).toBe('queued');
    });

    it('does not go back to queued when a reply is late', async () => {
      connection.event.emit({
        event: 'job_changed',
        data: { job: job({ state: 'running', step: 'building' }) }
      });
      await run();
      expect(model.job?.step).toBe('building');
    });

    it('keeps showing the running job while another is queued', async () => {
      await run();
      const tell = (change: Parameters<typeof job>[0]) =>
        connection.event.emit({
          event: 'job_changed',
          data: { job: job(change) }
        });
      tell({ state: 'running' });
      tell({ id: 'job-2', state: 'queued' });
      expect(model.job?.id).toBe('job-1');
      tell({ state: 'done' });
      tell({ id: 'job-2', state: 'running' });
      expect(model.job?.id).toBe('job-2');
    });

    it('interrupts the kernel to cancel a running job', async () => {
      await run();
      connection.event.emit({
        event: 'job_changed',
        data: { job: job({ state: 'running' }) }
      });
      void model.cancel();
      await connection.answer('cancel', {});
      expect(connection.interrupt).toHaveBeenCalledTimes(1);
    });

    it('interrupts also if the kernel does not hear the request', async () => {
      await run();
      connection.event.emit({
        event: 'job_changed',
        data: { job: job({ state: 'running' }) }
      });
      void model.cancel();
      jest.advanceTimersByTime(300);
      await settle();
      expect(connection.interrupt).toHaveBeenCalledTimes(1);
    });

    it('leaves a measurement time to end at its next round', async () => {
      await run();
      const state = { kind: 'measure' as const, state: 'running' as const };
      const tell = (now: Partial<typeof state> | object) =>
        connection.event.emit({
          event: 'job_changed',
          data: { job: job({ ...state, ...now }) }
        });
      tell({});
      void model.cancel();
      await connection.answer('cancel', {});
      await jest.advanceTimersByTimeAsync(1000);
      expect(connection.interrupt).not.toHaveBeenCalled();
      tell({ state: 'cancelled' });
      await jest.advanceTimersByTimeAsync(2000);
      expect(connection.interrupt).not.toHaveBeenCalled();
    });

    it('interrupts a measurement that builds and does not end', async () => {
      await run();
      connection.event.emit({
        event: 'job_changed',
        data: { job: job({ kind: 'measure', state: 'running' }) }
      });
      void model.cancel();
      await connection.answer('cancel', {});
      await jest.advanceTimersByTimeAsync(2500);
      expect(connection.interrupt).toHaveBeenCalledTimes(1);
    });

    it('interrupts no cell for a job that has left the main thread', async () => {
      await run();
      const tell = (aside: boolean) =>
        connection.event.emit({
          event: 'job_changed',
          data: { job: job({ state: 'running', aside }) }
        });
      tell(false);
      void model.cancel();
      tell(true);
      await connection.answer('cancel', {});
      await jest.advanceTimersByTimeAsync(2500);
      expect(connection.interrupt).not.toHaveBeenCalled();
    });

    it('does not interrupt a cell that a queued job waits for', async () => {
      await run();
      void model.cancel();
      const isWanted = connection.execute.mock.calls[0][1]!;
      expect(isWanted()).toBe(false);
      connection.event.emit({
        event: 'job_changed',
        data: { job: job({ state: 'cancelled' }) }
      });
      await connection.answer('cancel', {});
      expect(connection.interrupt).not.toHaveBeenCalled();
      expect(model.job?.state).toBe('cancelled');
    });

    it('ends with its kernel', async () => {
      await run();
      connection.setStatus({ kind: 'dead' });
      expect(model.job?.state).toBe('cancelled');
    });

    it('asks for the state if the end of a job was missed', async () => {
      connection.open.mockClear();
      void model.run();
      await connection.answer('start_run', { job: job(), code: 'go()' });
      jest.advanceTimersByTime(1000);
      await settle();
      expect(connection.open).toHaveBeenCalledTimes(1);
    });

    it('tells what a job’s code raised, unless the job tells it', async () => {
      connection.execute.mockRejectedValueOnce(new Error('broken'));
      void model.run();
      await connection.answer('start_run', { job: job(), code: 'go()' });
      connection.event.emit({
        event: 'job_changed',
        data: {
          job: job({ state: 'failed', error: problem({ what: 'broken' }) })
        }
      });
      jest.advanceTimersByTime(1000);
      await settle();
      expect(model.problem).toBeNull();

      connection.execute.mockRejectedValueOnce(new Error('lost'));
      void model.run();
      await connection.answer('start_run', {
        job: job({ id: 'job-2' }),
        code: 'go()'
      });
      jest.advanceTimersByTime(1000);
      await settle();
      expect(model.problem?.what).toBe('lost');
    });
  });
});
