import { BaseConnection } from '../../protocol/baseConnection';
import { problem, problemOf, RequestError } from '../../protocol/client';
import type { EventOf } from '../../protocol/connection';
import type { Commands, Reply, Request } from '../../protocol/types';
import { PROTOCOL_VERSION } from '../../protocol/types';

/**
 * What the reader of a trace answers: a reply, and what has changed by it.
 */
export interface ITraceAnswer {
  readonly reply: Reply;
  readonly events: readonly EventOf[];
}

/**
 * The reader of a trace in a kernel's place: it reads a compilation when a view
 * asks for one, and pushes by its answers that there is more to list since.
 */
export class TraceConnection extends BaseConnection {
  /**
   * @param _post - Sends a request to the reader; rejects where there is none.
   */
  constructor(private _post: (request: Request) => Promise<ITraceAnswer>) {
    super();
  }

  readonly isLive = false;

  async request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']> {
    const { reply, events } = await this._post({
      version: PROTOCOL_VERSION,
      client: 'trace',
      id: `${++this._count}`,
      command,
      arguments: args as Record<string, unknown>
    });
    // After the answer: it is not out of date by what it told of.
    queueMicrotask(() => events.forEach(each => this.emitEvent(each)));
    if (reply.error) {
      throw new RequestError(problem(reply.error), 'reply');
    }
    return reply.result as Commands[K]['result'];
  }

  execute(): Promise<void> {
    return Promise.resolve();
  }

  interrupt(): Promise<void> {
    return Promise.resolve();
  }

  async open(): Promise<void> {
    try {
      const state = await this.request('hello', {});
      if (!this.isDisposed) {
        this.setStatus({ kind: 'ready' });
        this.emitOpened(state);
      }
    } catch (error) {
      this.setStatus({ kind: 'error', problem: problemOf(error) });
    }
  }

  private _count = 0;
}
