import type { EventOf } from '../../../src/protocol/connection';
import { Connection, BUSY_TIMEOUT_MS } from '../../../src/protocol/connection';
import type { HelloResult, Request } from '../../../src/protocol/types';
import { EVENTS_TARGET, REQUESTS_TARGET } from '../../../src/protocol/types';
import { job, subjectSummary } from '../support/fakes';
import type { IFakeKernel } from '../support/kernel';
import { fakeKernel } from '../support/kernel';
import { helloResult } from '../support/structs';

const STATE = helloResult();

/**
 * Let promises and timers of no length run.
 */
async function turn(): Promise<void> {
  for (let count = 0; count < 3; count++) {
    await new Promise(resolve => setTimeout(resolve));
  }
}

function last(fake: IFakeKernel): Request {
  const { sent } = fake.comm(REQUESTS_TARGET);
  return sent[sent.length - 1] as unknown as Request;
}

/**
 * Longer than a kernel is busy with what nobody sees.
 */
async function patience(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, BUSY_TIMEOUT_MS + 10));
  await turn();
}

async function answer(fake: IFakeKernel, result: object): Promise<void> {
  fake
    .comm(REQUESTS_TARGET)
    .receive({ id: last(fake).id, result, error: null });
  await turn();
}

describe('Connection', () => {
  let fake: IFakeKernel;
  let connection: Connection;

  async function open(
    options: Parameters<typeof fakeKernel>[0] = {},
    state: HelloResult | null = STATE
  ): Promise<void> {
    fake = fakeKernel(options);
    connection = new Connection(fake.kernel);
    void connection.open();
    await turn();
    // The kernel was asked whether it has the package.
    jest.mocked(fake.kernel.requestExecute).mockClear();
    if (state) {
      await answer(fake, state);
    }
  }

  afterEach(() => {
    connection.dispose();
  });

  it('opens both comms with its id, then says hello on requests', async () => {
    await open({}, null);
    const events = fake.comm(EVENTS_TARGET);
    const requests = fake.comm(REQUESTS_TARGET);
    const { client } = events.opened!;
    expect(typeof client).toBe('string');
    expect(requests.opened).toEqual({ client, protocol: 1 });
    expect(last(fake)).toMatchObject({ command: 'hello', client, version: 1 });
    expect(events.sent).toEqual([]);
  });

  it('is ready with the kernel’s state', async () => {
    await open({}, null);
    const opened = jest.fn();
    connection.opened.connect((_, state) => opened(state));
    await answer(fake, STATE);
    expect(connection.status.kind).toBe('ready');
    expect(opened).toHaveBeenCalledWith(STATE);
  });

  it('keeps what was pushed before an older answer came', async () => {
    await open({}, null);
    const opened = jest.fn();
    connection.opened.connect((_, state) => opened(state));
    const subjects = [subjectSummary('a')];
    const running = job();
    fake.comm(EVENTS_TARGET).receive({
      event: 'subjects_changed',
      data: { subjects, focus: 'a', offer: null }
    });
    const elsewhere = job({ id: 'job-2', aside: true, state: 'running' });
    for (const update of [running, elsewhere]) {
      const data = { job: update };
      fake.comm(EVENTS_TARGET).receive({ event: 'job_changed', data });
    }
    await answer(fake, STATE);
    const jobs = [running, elsewhere];
    expect(opened).toHaveBeenCalledWith({ ...STATE, subjects, jobs });
    // What was pushed before the next question is older than its answer.
    void connection.open();
    await turn();
    await answer(fake, STATE);
    expect(opened).toHaveBeenLastCalledWith(STATE);
  });

  it('waits for the subshells where there are some', async () => {
    await open({ subshells: true }, null);
    const [events, eventsHold] = fake.comms;
    expect(events.opened).toBeNull();
    events.startSubshell();
    await turn();
    expect(events.opened).not.toBeNull();
    const [requests, requestsHold] = fake.comms.slice(2);
    requests.startSubshell();
    await turn();
    expect(requests.sent[0]).toMatchObject({ command: 'hello' });
    expect([eventsHold.opened, requestsHold.opened]).toEqual([null, null]);
  });

  it('lets a subshell last longer than its comm', async () => {
    await open({ subshells: true }, null);
    const [events, hold] = fake.comms;
    events.startSubshell();
    await turn();
    jest.useFakeTimers();
    connection.dispose();
    events.closeFromKernel();
    expect(hold.isDisposed).toBe(false);
    jest.runAllTimers();
    expect(hold.isDisposed).toBe(true);
    jest.useRealTimers();
  });

  it.each([
    ['True', 'unloaded'],
    ['False', 'missing']
  ])(
    'opens nothing in an idle kernel without it (%s)',
    async (probeReply, kind) => {
      fake = fakeKernel({ subshells: true });
      fake.probeReply = probeReply;
      connection = new Connection(fake.kernel);
      fake.setStatus('idle');
      await connection.open();
      expect(connection.status.kind).toBe(kind);
      expect(fake.comms).toEqual([]);
    }
  );

  it('asks a kernel that is busy only until it has said what it is', async () => {
    fake = fakeKernel();
    fake.probeReply = 'True';
    connection = new Connection(fake.kernel);
    fake.setStatus('busy');
    void connection.open();
    await turn();
    fake.setStatus('idle');
    await turn();
    expect(connection.status.kind).toBe('unloaded');
    expect(fake.comms).toEqual([]);
  });

  it('tries the comms of a kernel that stays busy', async () => {
    fake = fakeKernel();
    fake.probeReply = 'True';
    connection = new Connection(fake.kernel);
    fake.setStatus('busy');
    void connection.open();
    await patience();
    expect(fake.comms).toHaveLength(2);
    expect(fake.kernel.requestExecute).not.toHaveBeenCalled();
  });

  it('tries the comms at once where the package was just loaded', async () => {
    fake = fakeKernel();
    connection = new Connection(fake.kernel);
    // As between two cells of several that are queued: no answer comes.
    fake.setStatus('idle');
    jest
      .mocked(fake.kernel.requestExecute)
      .mockReturnValue({ done: new Promise(() => {}) } as never);
    void connection.open();
    await turn();
    expect(fake.comms).toEqual([]);
    void connection.open(true);
    await turn();
    await answer(fake, STATE);
    expect(connection.status.kind).toBe('ready');
  });

  it('passes on events, but not those it does not know', async () => {
    await open();
    const seen: EventOf[] = [];
    connection.event.connect((_, event) => seen.push(event));
    const data = { job: job() };
    fake.comm(EVENTS_TARGET).receive({ event: 'job_changed', data });
    fake.comm(EVENTS_TARGET).receive({ event: 'from_the_future', data: {} });
    expect(seen).toEqual([{ event: 'job_changed', data }]);
  });

  it.each([
    ['True', 'unloaded'],
    ['False', 'missing']
  ])(
    'tells what a comm closed at once means (%s)',
    async (probeReply, kind) => {
      await open({}, null);
      fake.probeReply = probeReply;
      fake.comm(EVENTS_TARGET).closeFromKernel();
      await turn();
      expect(connection.status.kind).toBe(kind);
      // The other comm is the kernel's to close.
      expect(fake.comm(REQUESTS_TARGET).isClosed).toBe(false);
    }
  );

  it('leaves kernels of other languages alone', async () => {
    await open({ language: 'R' }, null);
    expect(connection.status.kind).toBe('unsupported');
    expect(fake.comms).toEqual([]);
  });

  it('opens again, once, after a restart', async () => {
    await open();
    const request = connection.request('forget', { subject: 'f' });
    const rejected = expect(request).rejects.toMatchObject({ kind: 'closed' });
    fake.setStatus('restarting');
    await rejected;
    expect(connection.status.kind).toBe('connecting');
    fake.setStatus('starting');
    await turn();
    expect(fake.comms).toHaveLength(2);
    fake.setStatus('busy');
    fake.setStatus('idle');
    await turn();
    expect(fake.comms).toHaveLength(4);
    await answer(fake, STATE);
    expect(connection.status.kind).toBe('ready');
  });

  it('opens again when the kernel has forgotten it', async () => {
    await open();
    fake.comm(EVENTS_TARGET).closeFromKernel();
    await turn();
    expect(fake.comms).toHaveLength(4);
    await answer(fake, STATE);
    expect(connection.status.kind).toBe('ready');
  });

  it('asks for the state again when the network came back', async () => {
    await open();
    const count = fake.comm(REQUESTS_TARGET).sent.length;
    fake.setSocket('connecting');
    fake.setSocket('connected');
    await turn();
    expect(fake.comms).toHaveLength(2);
    expect(fake.comm(REQUESTS_TARGET).sent).toHaveLength(count + 1);
    expect(last(fake).command).toBe('hello');
  });

  it('gives up what was asked before the network went, once it is back', async () => {
    await open();
    const lost = connection.request('forget', { subject: 'f' });
    const settled = jest.fn();
    lost.catch(settled);
    fake.setSocket('connecting');
    fake.setSocket('connected');
    await turn();
    expect(settled).not.toHaveBeenCalled();
    await answer(fake, STATE);
    await expect(lost).rejects.toMatchObject({
      kind: 'closed',
      problem: { what: 'The connection to the kernel was lost' }
    });
    expect(connection.status.kind).toBe('ready');
  });

  it('says so when JupyterLab does not connect again', async () => {
    await open();
    const lost = connection.request('forget', { subject: 'f' });
    fake.setSocket('disconnected');
    await expect(lost).rejects.toMatchObject({ kind: 'closed' });
    expect(connection.status.kind).toBe('error');
    fake.setSocket('connected');
    await answer(fake, STATE);
    expect(connection.status.kind).toBe('ready');
  });

  it('is dead when the kernel is', async () => {
    await open();
    fake.setStatus('dead');
    expect(connection.status.kind).toBe('dead');
  });

  it('says that a busy kernel without subshells has queued it', async () => {
    fake = fakeKernel();
    connection = new Connection(fake.kernel);
    fake.setStatus('busy');
    void connection.open();
    await patience();
    expect(connection.status.kind).toBe('busy');
    await answer(fake, STATE);
    expect(connection.status.kind).toBe('ready');
  });

  it('refuses a kernel that speaks another protocol', async () => {
    await open({}, { ...STATE, protocol: 2 });
    expect(connection.status).toMatchObject({
      kind: 'error',
      problem: { remedy: expect.stringContaining('same version') }
    });
  });

  it('closes both comms when it is disposed', async () => {
    await open();
    connection.dispose();
    connection.dispose();
    expect(fake.comms.map(fakeComm => fakeComm.isClosed)).toEqual([true, true]);
  });

  it('gives every tab its own id', async () => {
    await open();
    const other = fakeKernel();
    const second = new Connection(other.kernel);
    void second.open();
    await turn();
    expect(other.comm(EVENTS_TARGET).opened!.client).not.toBe(
      fake.comm(EVENTS_TARGET).opened!.client
    );
    second.dispose();
  });

  it('runs code unseen, and again if a failing cell threw it away', async () => {
    await open();
    const { requestExecute } = fake.kernel as unknown as {
      requestExecute: jest.Mock;
    };
    requestExecute.mockReturnValueOnce({
      done: Promise.resolve({ content: { status: 'aborted' } })
    });
    await connection.execute('go()');
    expect(requestExecute).toHaveBeenCalledTimes(2);
    expect(requestExecute).toHaveBeenLastCalledWith({
      code: 'go()',
      silent: true,
      store_history: false,
      allow_stdin: false,
      stop_on_error: false
    });
  });

  it('does not hand code in again that is not wanted any more', async () => {
    await open();
    const { requestExecute } = fake.kernel as unknown as {
      requestExecute: jest.Mock;
    };
    let isWanted = true;
    requestExecute.mockImplementationOnce(() => {
      isWanted = false;
      return { done: Promise.resolve({ content: { status: 'aborted' } }) };
    });
    await connection.execute('go()', () => isWanted);
    expect(requestExecute).toHaveBeenCalledTimes(1);
  });

  it('tells what the code raised', async () => {
    await open();
    (
      fake.kernel as unknown as { requestExecute: jest.Mock }
    ).requestExecute.mockReturnValueOnce({
      done: Promise.resolve({
        content: {
          status: 'error',
          ename: 'ValueError',
          evalue: 'no',
          traceback: ['a', 'b']
        }
      })
    });
    await expect(connection.execute('go()')).rejects.toMatchObject({
      problem: { why: 'ValueError: no', detail: 'a\nb' }
    });
  });
});
