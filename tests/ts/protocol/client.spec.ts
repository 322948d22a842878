import { Client, problem, RequestError } from '../../../src/protocol/client';
import type { ReplyPart, Request } from '../../../src/protocol/types';

describe('Client', () => {
  let sent: Request[];
  let client: Client;

  beforeEach(() => {
    sent = [];
    client = new Client({
      client: 'me',
      send: request => sent.push(request)
    });
  });

  it('sends version, client and its own id with each request', () => {
    void client.request('get_report', { subject: 'f' });
    void client.request('get_report', { subject: 'g' });
    expect(sent[0]).toMatchObject({
      version: 1,
      client: 'me',
      command: 'get_report',
      arguments: { subject: 'f' }
    });
    expect(sent[0].id).not.toBe(sent[1].id);
  });

  it('matches replies to requests in whatever order they come', async () => {
    const first = client.request('cancel', { job: 'a' });
    const second = client.request('save_report', {
      subject: 'f',
      format: 'json',
      redact: false
    });
    client.receive({
      id: sent[1].id,
      result: { filename: 'f.json', text: '{}' },
      error: null
    });
    client.receive({ id: sent[0].id, result: {}, error: null });
    await expect(second).resolves.toEqual({ filename: 'f.json', text: '{}' });
    await expect(first).resolves.toEqual({});
  });

  it('rejects with the problem that the kernel tells of', async () => {
    const request = client.request('forget', { subject: 'f' });
    const refusal = problem({
      what: 'no such subject',
      remedy: 'pick another'
    });
    client.receive({ id: sent[0].id, result: null, error: refusal });
    await expect(request).rejects.toMatchObject({
      kind: 'reply',
      problem: refusal
    });
  });

  it('rejects a reply that holds neither result nor error', async () => {
    const request = client.request('hello', {});
    client.receive({ id: sent[0].id });
    await expect(request).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('drops replies to nobody, and what is no reply', async () => {
    const request = client.request('heartbeat', {});
    for (const message of [null, 7, {}, { id: 'other', result: {} }]) {
      client.receive(message);
    }
    client.receive({ id: sent[0].id, result: {}, error: null });
    client.receive({
      id: sent[0].id,
      result: null,
      error: problem({ what: '' })
    });
    await expect(request).resolves.toEqual({});
  });

  it('waits for as long as it takes', async () => {
    jest.useFakeTimers();
    const request = client.request('hello', {});
    const settled = jest.fn();
    request.then(settled, settled);
    jest.advanceTimersByTime(3_600_000);
    await Promise.resolve();
    expect(settled).not.toHaveBeenCalled();
    jest.useRealTimers();
    client.receive({ id: sent[0].id, result: {}, error: null });
    await expect(request).resolves.toEqual({});
  });

  it('gives up those that were sent before the connection was lost', async () => {
    const lost = client.request('heartbeat', {});
    const upTo = client.sent;
    const later = client.request('heartbeat', {});
    client.rejectAll(problem({ what: 'lost' }), upTo);
    await expect(lost).rejects.toMatchObject({ kind: 'closed' });
    client.receive({ id: sent[1].id, result: {}, error: null });
    await expect(later).resolves.toEqual({});
  });

  it('gives all requests up when the connection closes', async () => {
    const requests = [client.request('hello', {}), client.request('hello', {})];
    client.rejectAll(problem({ what: 'closed' }));
    for (const request of requests) {
      await expect(request).rejects.toBeInstanceOf(RequestError);
      await expect(request).rejects.toMatchObject({ kind: 'closed' });
    }
  });

  it('rejects when it cannot send', async () => {
    client = new Client({
      client: 'me',
      send: () => {
        throw new Error('not connected');
      }
    });
    await expect(client.request('hello', {})).rejects.toMatchObject({
      kind: 'closed',
      problem: { what: 'not connected' }
    });
  });

  describe('a reply in parts', () => {
    const result = { filename: 'f.json', text: '€'.repeat(50) };
    let request: Promise<unknown>;
    let parts: ReplyPart[];

    beforeEach(() => {
      request = client.request('save_report', {
        subject: 'f',
        format: 'json',
        redact: false
      });
      const [{ id }] = sent;
      const text = JSON.stringify({ id, result, error: null });
      parts = [0, 1, 2].map(part => ({
        id,
        part,
        parts: 3,
        text: text.slice(part * 30, part === 2 ? undefined : part * 30 + 30)
      }));
    });

    it('is put together', async () => {
      parts.forEach(part => client.receive(part));
      await expect(request).resolves.toEqual(result);
    });

    it.each([
      ['missing', [0, 2], 'Part 2 of 3 is missing'],
      ['doubled', [0, 1, 1], 'Part 2 of 3 came twice']
    ])('fails where a part is %s', async (_, order, why) => {
      order.forEach(index => client.receive(parts[index]));
      await expect(request).rejects.toMatchObject({
        kind: 'invalid',
        problem: { why, remedy: expect.stringContaining('Try again') }
      });
      client.receive(parts[2]);
    });

    it('fails where the parts do not fit together', async () => {
      client.receive({ ...parts[0], parts: 4 });
      client.receive(parts[1]);
      await expect(request).rejects.toMatchObject({ kind: 'invalid' });
    });

    it('fails where the parts make no sense', async () => {
      client.receive(parts[0]);
      client.receive({ ...parts[1], text: '"' });
      client.receive(parts[2]);
      await expect(request).rejects.toMatchObject({ kind: 'invalid' });
    });

    it('can be an error', async () => {
      const other = client.request('forget', { subject: 'f' });
      const { id } = sent[1];
      const error = problem({ what: 'no such subject' });
      const text = JSON.stringify({ id, result: null, error });
      client.receive({ id, part: 0, parts: 1, text });
      await expect(other).rejects.toMatchObject({
        kind: 'reply',
        problem: error
      });
      void request.catch(() => undefined);
    });
  });
});
