import { PortConnection } from '../../../src/protocol/port';
import type { FromPanel, ToPanel } from '../../../src/protocol/portMessages';
import type { Request } from '../../../src/protocol/types';
import { job } from '../support/fakes';
import { helloResult } from '../support/structs';

/**
 * A port whose other end is the test.
 */
class FakePort extends EventTarget {
  readonly sent: FromPanel[] = [];
  start = jest.fn();
  close = jest.fn();

  postMessage(message: FromPanel): void {
    this.sent.push(message);
  }

  say(message: ToPanel): void {
    this.dispatchEvent(new MessageEvent('message', { data: message }));
  }

  get asked(): Request {
    const [last] = this.sent
      .flatMap(message => (message.kind === 'request' ? [message.request] : []))
      .slice(-1);
    return last;
  }

  async answer(result: object): Promise<void> {
    this.say({
      kind: 'reply',
      data: { id: this.asked.id, result, error: null }
    });
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
  }
}

describe('PortConnection', () => {
  let port: FakePort;
  let connection: PortConnection;

  beforeEach(() => {
    jest.useFakeTimers();
    port = new FakePort();
    connection = new PortConnection(port as unknown as MessagePort);
  });

  afterEach(() => {
    connection.dispose();
    jest.useRealTimers();
  });

  async function open(): Promise<void> {
    void connection.open();
    await port.answer(helloResult());
  }

  /**
   * Ask for something; what comes of it is no matter.
   */
  function ask(): void {
    const asked = connection.request('get_checkup', {
      front_end: '',
      restart: false
    });
    asked.catch(() => undefined);
  }

  it('says hello, and is ready with the kernel’s state', async () => {
    const opened = jest.fn();
    connection.opened.connect((_, state) => opened(state));
    void connection.open();
    expect(port.asked).toMatchObject({ command: 'hello', version: 1 });
    await port.answer(helloResult());
    expect(connection.status.kind).toBe('ready');
    expect(opened).toHaveBeenCalledWith(helloResult());
  });

  it('takes long replies in parts, and none that are for another view', async () => {
    await open();
    const asked = connection.request('heartbeat', {});
    const whole = JSON.stringify({
      id: port.asked.id,
      result: {},
      error: null
    });
    port.say({
      kind: 'reply',
      data: { id: 'other-1', result: {}, error: null }
    });
    for (const part of [0, 1]) {
      const text = part ? whole.slice(9) : whole.slice(0, 9);
      const data = { id: port.asked.id, part, parts: 2, text };
      port.say({ kind: 'reply', data });
    }
    await expect(asked).resolves.toEqual({});
  });

  it('passes on the events that it knows', async () => {
    await open();
    const event = jest.fn();
    connection.event.connect((_, entry) => event(entry));
    const data = {
      event: 'job_changed',
      data: { job: job({ state: 'running' }) }
    };
    port.say({ kind: 'event', data });
    port.say({ kind: 'event', data: { event: 'unheard_of', data: {} } });
    expect(event.mock.calls).toEqual([[data]]);
  });

  it('says that the kernel is busy, then that it may be gone', async () => {
    await open();
    ask();
    jest.advanceTimersByTime(2_999);
    expect(connection.status.kind).toBe('ready');
    jest.advanceTimersByTime(1);
    expect(connection.status.kind).toBe('busy');
    jest.advanceTimersByTime(57_000);
    expect(connection.status).toMatchObject({
      kind: 'error',
      problem: { what: 'The kernel does not answer' }
    });
    await port.answer({});
    expect(connection.status.kind).toBe('ready');
  });

  it('is not doubted by a kernel that speaks', async () => {
    await open();
    ask();
    for (let count = 0; count < 5; count++) {
      jest.advanceTimersByTime(2_000);
      port.say({ kind: 'event', data: { event: 'measured', data: {} } });
    }
    expect(connection.status.kind).toBe('ready');
  });

  it('gives up what was asked of a kernel that has gone', async () => {
    await open();
    const asked = expect(
      connection.request('heartbeat', {})
    ).rejects.toMatchObject({ problem: { remedy: 'Run the cell again.' } });
    port.say({ kind: 'closed' });
    expect(connection.status.kind).toBe('dead');
    await asked;
  });

  it('asks again where the kernel may have gone or come back', async () => {
    await open();
    port.say({ kind: 'check' });
    expect(port.asked.command).toBe('hello');
    expect(port.sent).toHaveLength(2);
  });

  it('tells the kernel that it is there, and has it interrupted', async () => {
    await open();
    jest.advanceTimersByTime(20_000);
    expect(port.asked.command).toBe('heartbeat');
    await connection.interrupt();
    expect(port.sent.slice(-1)).toEqual([{ kind: 'interrupt' }]);
  });
});
