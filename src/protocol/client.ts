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
   * However long the reply takes: a kernel that is silent is at work, and one
   * that is gone says so by the state of its connection.
   *
   * @throws RequestError
   */
  request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']> {
    const id = `${this._options.client}-${++this._count}`;
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => {
        this._pending.delete(id);
        action();
      };
      this._pending.set(id, {
        number: this._count,
        parts: null,
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
   * How many requests were sent.
   */
  get sent(): number {
    return this._count;
  }

  /**
   * Give up requests under way.
   *
   * @param upTo - Only the first so many that were sent.
   */
  rejectAll(reason: Problem, upTo = Infinity): void {
    for (const pending of [...this._pending.values()]) {
      if (pending.number <= upTo) {
        pending.reject(new RequestError(reason, 'closed'));
      }
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
  }
}

interface IPending {
  /**
   * How many requests had been sent with it.
   */
  number: number;

  /**
   * The parts received so far, of a reply that comes in parts.
   */
  parts: Parts | null;
  resolve: (result: Record<string, unknown>) => void;
  reject: (error: RequestError) => void;
}
