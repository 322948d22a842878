import { problem, problemOf, RequestError } from './errors';
import { isPart, Parts } from './parts';
import type { Commands, Problem, Reply, ReplyPart, Request } from './types';
import { PROTOCOL_VERSION } from './types';

export { problem, problemOf, RequestError } from './errors';

/**
 * Sends typed requests and matches the replies to them.
 */
export class Client {
  constructor(private _options: Client.IOptions) {}

  /**
   * Send a request.
   *
   * @returns The command's result.
   *
   * @throws RequestError, also when no reply comes in time.
   */
  request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']> {
    const id = `${this._options.client}-${++this._count}`;
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => {
        clearTimeout(this._pending.get(id)?.timer);
        this._pending.delete(id);
        action();
      };
      this._pending.set(id, {
        command,
        parts: null,
        timer: this._startTimer(id, command),
        // The one unchecked cast: the result's struct was encoded by the
        // kernel from the type that this one was generated from.
        resolve: result =>
          settle(() => resolve(result as Commands[K]['result'])),
        reject: error => settle(() => reject(error))
      });
      try {
        this._options.send({
          version: PROTOCOL_VERSION,
          client: this._options.client,
          id,
          command,
          arguments: args as Record<string, unknown>
        });
      } catch (error) {
        this._pending
          .get(id)
          ?.reject(new RequestError(problemOf(error), 'closed'));
      }
    });
  }

  /**
   * Take a message from the kernel. Replies to no known request are dropped:
   * they answer one that was given up.
   */
  receive(message: unknown): void {
    const reply = message as Partial<Reply & ReplyPart> | null;
    const pending =
      typeof reply?.id === 'string' ? this._pending.get(reply.id) : undefined;
    if (!reply || !pending) {
      return;
    }
    if (!isPart(reply)) {
      this._settle(pending, reply);
      return;
    }
    // As long as parts come, the kernel is not silent.
    clearTimeout(pending.timer);
    pending.timer = this._startTimer(reply.id, pending.command);
    pending.parts ??= new Parts();
    try {
      const whole = pending.parts.add(reply);
      if (whole) {
        this._settle(pending, whole);
      }
    } catch (error) {
      pending.reject(error as RequestError);
    }
  }

  /**
   * Give up all requests under way.
   */
  rejectAll(reason: Problem): void {
    for (const pending of [...this._pending.values()]) {
      pending.reject(new RequestError(reason, 'closed'));
    }
  }

  private _settle(pending: IPending, reply: Partial<Reply>): void {
    if (reply.error) {
      pending.reject(new RequestError(problem(reply.error), 'reply'));
    } else if (typeof reply.result === 'object' && reply.result !== null) {
      pending.resolve(reply.result);
    } else {
      pending.reject(
        new RequestError(
          problem({
            what: 'The kernel sent a reply without a result',
            why: `${PROTOCOL_VERSION} is the protocol that this front end speaks`,
            remedy:
              'Install the same version of jupyterlab-compilescope for JupyterLab and for the kernel.'
          }),
          'invalid'
        )
      );
    }
  }

  private _startTimer(id: string, command: string): number {
    const { timeout, isQueued } = this._options;
    return window.setTimeout(() => {
      const pending = this._pending.get(id);
      if (!pending) {
        return;
      }
      // A busy kernel without subshells answers when its cell is done.
      if (isQueued()) {
        pending.timer = this._startTimer(id, command);
        return;
      }
      pending.reject(
        new RequestError(
          problem({
            what: `The kernel did not answer "${command}"`,
            why: `Nothing came within ${timeout / 1000} s`,
            remedy: 'Try again; if it stays silent, restart the kernel.'
          }),
          'timeout'
        )
      );
    }, timeout);
  }

  private _count = 0;
  private _pending = new Map<string, IPending>();
}

/**
 * The namespace for `Client` statics.
 */
export namespace Client {
  /**
   * The options of a client.
   */
  export interface IOptions {
    /**
     * This client's id, its own for each page.
     */
    client: string;

    /**
     * Sends a request to the kernel.
     */
    send: (request: Request) => void;

    /**
     * Whether requests wait for the kernel to finish a cell.
     */
    isQueued: () => boolean;

    /**
     * How long to wait for a reply, in milliseconds.
     */
    timeout: number;
  }
}

interface IPending {
  command: string;

  /**
   * What has come of a reply in parts.
   */
  parts: Parts | null;
  timer: number;
  resolve: (result: Record<string, unknown>) => void;
  reject: (error: RequestError) => void;
}
