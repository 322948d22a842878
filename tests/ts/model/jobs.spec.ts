import type { SubjectModel } from '../../../src/model/subject';
import { problem } from '../../../src/protocol/client';
import type { JobState } from '../../../src/protocol/types';
import type { FakeConnection } from '../support/fakes';
import { job, settle } from '../support/fakes';
import { eachInspectedModel } from '../support/models';

describe('The jobs of a SubjectModel', () => {
  let connection: FakeConnection;
  let model: SubjectModel;
  eachInspectedModel((...both) => ([connection, model] = both));

  async function run(): Promise<void> {
    // The code runs until the test ends it.
    connection.execute.mockReturnValueOnce(new Promise(() => undefined));
    void model.run();
    await connection.answer('start_run', { job: job(), code: 'go()' });
  }

  const announce = (change: Parameters<typeof job>[0]) =>
    connection.event.emit({
      event: 'job_changed',
      data: { job: job(change) }
    });

  it('began when the kernel says', () => {
    const now = Date.now();
    announce({ state: 'running', elapsed_s: 40 });
    expect(model.jobSince).toBe(now - 40_000);
    jest.advanceTimersByTime(5_000);
    announce({ state: 'running', step: 'next', elapsed_s: 44 });
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
    announce({ state: 'running', step: 'building' });
    await run();
    expect(model.job?.step).toBe('building');
  });

  it('keeps showing the running job while another is queued', async () => {
    await run();
    announce({ state: 'running' });
    announce({ id: 'job-2', state: 'queued' });
    expect(model.job?.id).toBe('job-1');
    announce({ state: 'done' });
    announce({ id: 'job-2', state: 'running' });
    expect(model.job?.id).toBe('job-2');
  });

  it('show the next one that waits when the first one is canceled', async () => {
    await run();
    announce({ id: 'job-2' });
    expect(model.job?.id).toBe('job-1');
    announce({ state: 'cancelled' });
    expect(model.job).toMatchObject({ id: 'job-2', state: 'queued' });
  });

  it('show the newest of several in other processes until all have ended', () => {
    const change = (id: string, state: JobState['state'], step = '') =>
      announce({ id, aside: true, state, step });
    change('job-2', 'running');
    change('job-3', 'running');
    change('job-2', 'running', 'graph passes');
    expect(model.job?.id).toBe('job-3');
    change('job-3', 'done');
    expect(model.job).toMatchObject({ id: 'job-2', step: 'graph passes' });
    change('job-2', 'failed');
    expect(model.job).toMatchObject({ id: 'job-2', state: 'failed' });
  });

  describe('beside a job in another process', () => {
    const elsewhere = (change: Parameters<typeof job>[0]) =>
      announce({ id: 'job-2', aside: true, state: 'running', ...change });

    beforeEach(async () => {
      elsewhere({ step: 'generating code' });
      await run();
    });

    it('are the ones that are shown', () => {
      expect(model.job).toMatchObject({ id: 'job-1', state: 'queued' });
      announce({ state: 'running' });
      elsewhere({ step: 'graph passes' });
      expect(model.job?.id).toBe('job-1');
      announce({ state: 'done' });
      expect(model.job).toMatchObject({ id: 'job-2', step: 'graph passes' });
    });

    it('are canceled first', async () => {
      announce({ state: 'running' });
      void model.cancel();
      expect(connection.asked.at(-1)?.args).toEqual({ job: 'job-1' });
      await connection.answer('cancel', {});
      expect(connection.interrupt).toHaveBeenCalledTimes(1);
    });

    it('still show how they failed when it has ended', () => {
      announce({ state: 'failed' });
      elsewhere({ state: 'done' });
      expect(model.job).toMatchObject({ id: 'job-1', state: 'failed' });
      elsewhere({ id: 'job-3' });
      elsewhere({ id: 'job-3', state: 'done' });
      expect(model.job?.id).toBe('job-3');
    });

    it('end with their kernel, as it does', () => {
      connection.setStatus({ kind: 'dead' });
      expect(model.job?.state).toBe('cancelled');
    });
  });

  it('interrupts the kernel to cancel a running job', async () => {
    await run();
    announce({ state: 'running' });
    void model.cancel();
    await connection.answer('cancel', {});
    expect(connection.interrupt).toHaveBeenCalledTimes(1);
  });

  it('interrupts also if the kernel does not hear the request', async () => {
    await run();
    announce({ state: 'running' });
    void model.cancel();
    jest.advanceTimersByTime(300);
    await settle();
    expect(connection.interrupt).toHaveBeenCalledTimes(1);
  });

  it('leaves a measurement time to end at its next round', async () => {
    await run();
    announce({ kind: 'measure', state: 'running' });
    void model.cancel();
    await connection.answer('cancel', {});
    await jest.advanceTimersByTimeAsync(1000);
    expect(connection.interrupt).not.toHaveBeenCalled();
    announce({ kind: 'measure', state: 'cancelled' });
    await jest.advanceTimersByTimeAsync(2000);
    expect(connection.interrupt).not.toHaveBeenCalled();
  });

  it('interrupts a measurement that builds and does not end', async () => {
    await run();
    announce({ kind: 'measure', state: 'running' });
    void model.cancel();
    await connection.answer('cancel', {});
    await jest.advanceTimersByTimeAsync(2500);
    expect(connection.interrupt).toHaveBeenCalledTimes(1);
  });

  it('interrupts no cell for a job that has left the main thread', async () => {
    await run();
    const tell = (aside: boolean) => announce({ state: 'running', aside });
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
    announce({ state: 'cancelled' });
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

  it('reports what a job’s code raised, unless the job reports it', async () => {
    connection.execute.mockRejectedValueOnce(new Error('broken'));
    void model.run();
    await connection.answer('start_run', { job: job(), code: 'go()' });
    announce({ state: 'failed', error: problem({ what: 'broken' }) });
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
