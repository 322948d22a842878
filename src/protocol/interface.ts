import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import type { IStatus } from '../interfaces/status';
import type { Commands, Events, HelloResult } from './types';

/**
 * An event with its data.
 */
export type EventOf<K extends keyof Events = keyof Events> = {
  [E in K]: { event: E; data: Events[E] };
}[K];

/**
 * A connection to a kernel, as models use it.
 */
export interface IConnection extends IDisposable {
  /**
   * Whether a kernel answers, not a file.
   */
  readonly isLive: boolean;
  readonly status: IStatus;
  readonly statusChanged: ISignal<IConnection, IStatus>;

  /**
   * Emitted with the kernel's full state each time the comms have opened.
   */
  readonly opened: ISignal<IConnection, HelloResult>;

  /**
   * Emitted with what the kernel pushes.
   */
  readonly event: ISignal<IConnection, EventOf>;

  /**
   * Send a request; rejects with a `RequestError`.
   */
  request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']>;

  /**
   * Run code silently on the kernel's main thread.
   *
   * @param isWanted - Whether to send the code again after the kernel cleared its
   *   queue.
   */
  execute(code: string, isWanted?: () => boolean): Promise<void>;

  /**
   * Interrupt the kernel's main thread.
   */
  interrupt(): Promise<void>;

  /**
   * Open the comms, or send `hello` again if they are open.
   *
   * @param isExpected - Whether the package is probably loaded. The kernel is
   *   then not asked first: its reply would wait for all queued cells.
   */
  open(isExpected?: boolean): Promise<void>;
}
