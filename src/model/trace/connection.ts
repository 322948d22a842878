import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { problem, problemOf, RequestError } from '../../protocol/client';
import type { EventOf, IConnection } from '../../protocol/connection';
import type {
  Commands,
  HelloResult,
  Reply,
  Request
} from '../../protocol/types';
import { PROTOCOL_VERSION } from '../../protocol/types';
import type { IStatus } from '../../tokens';

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
export class TraceConnection implements IConnection {
  /**
   * @param _post - Sends a request to the reader; rejects where there is none.
   */
  constructor(private _post: (request: Request) => Promise<ITraceAnswer>) {}

  readonly isLive = false;

  get status(): IStatus {
    return this._status;
  }

  get statusChanged(): ISignal<IConnection, IStatus> {
    return this._statusChanged;
  }

  get opened(): ISignal<IConnection, HelloResult> {
    return this._opened;
  }

  get event(): ISignal<IConnection, EventOf> {
    return this._event;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

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
    queueMicrotask(() => events.forEach(each => this._event.emit(each)));
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
      if (!this._isDisposed) {
        this._setStatus({ kind: 'ready' });
        this._opened.emit(state);
      }
    } catch (error) {
      this._setStatus({ kind: 'error', problem: problemOf(error) });
    }
  }

  private _setStatus(status: IStatus): void {
    this._status = status;
    this._statusChanged.emit(status);
  }

  private _count = 0;
  private _isDisposed = false;
  private _status: IStatus = { kind: 'connecting' };
  private _statusChanged = new Signal<IConnection, IStatus>(this);
  private _opened = new Signal<IConnection, HelloResult>(this);
  private _event = new Signal<IConnection, EventOf>(this);
}
