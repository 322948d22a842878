import { BaseConnection } from '../../protocol/baseConnection';
import { problem, problemOf, RequestError } from '../../protocol/client';
import type { EventOf } from '../../protocol/connection';
import type { Commands, Reply, Request } from '../../protocol/types';
import { PROTOCOL_VERSION } from '../../protocol/types';

/**
 * After how long the log is looked at again, in milliseconds: while something is
 * logged, and at most.
 */
const MIN_POLL_MS = 2000;
const LATEST = 30_000;

/**
 * As many times as long as it takes to look, so that a large trace does not keep
 * its reader busy.
 */
const PAUSE_FACTOR = 10;

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
    // After the reply, which already includes what the events announce.
    queueMicrotask(() => events.forEach(event => this.emitEvent(event)));
    if (reply.error) {
      throw new RequestError(problem(reply.error), 'reply');
    }
    const result = reply.result as Commands[K]['result'];
    if (
      command === 'get_report' &&
      (result as Commands['get_report']['result']).trace?.is_followed
    ) {
      this._follow();
    }
    return result;
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

  protected override release(): void {
    clearTimeout(this._timer);
  }

  /**
   * Have the reader read on, now and then: a running job logs more.
   */
  private _follow(): void {
    if (this._isFollowing || this.isDisposed) {
      return;
    }
    this._isFollowing = true;
    let wait = MIN_POLL_MS;
    const look = async () => {
      const begun = Date.now();
      let hasMore = false;
      const note = () => (hasMore = true);
      if (!document.hidden) {
        this.event.connect(note);
        // The next look may succeed; what a view asks for says what is wrong.
        await this.request('read_on', { subject: '' }).catch(() => undefined);
        await Promise.resolve();
        this.event.disconnect(note);
      }
      const rest = PAUSE_FACTOR * (Date.now() - begun);
      wait = hasMore ? MIN_POLL_MS : wait * 1.5;
      wait = Math.min(LATEST, Math.max(wait, rest));
      if (!this.isDisposed) {
        this._timer = window.setTimeout(() => void look(), wait);
      }
    };
    this._timer = window.setTimeout(() => void look(), wait);
  }

  private _count = 0;
  private _isFollowing = false;
  private _timer = 0;
}
