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
 * What a model needs of a kernel.
 */
export interface IConnection extends IDisposable {
  /**
   * Whether there is a kernel at the other end, or only a file.
   */
  readonly isLive: boolean;
  readonly status: IStatus;
  readonly statusChanged: ISignal<IConnection, IStatus>;

  /**
   * Emitted with the kernel's full state each time that the comms were opened.
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
   * Run code on the kernel's main thread, for as long as it is wanted.
   */
  execute(code: string, isWanted?: () => boolean): Promise<void>;

  /**
   * Interrupt the kernel's main thread.
   */
  interrupt(): Promise<void>;

  /**
   * Open the comms, or say hello again if they are open.
   *
   * @param isExpected - Whether the package is probably loaded: the kernel is not asked
   * first, whose answer would wait behind the cells that are queued.
   */
  open(isExpected?: boolean): Promise<void>;
}
