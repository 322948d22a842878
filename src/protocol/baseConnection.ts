import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type { IStatus } from '../interfaces/status';
import type { EventOf, IConnection } from './interface';
import type { Commands, HelloResult } from './types';

/**
 * The base of all connections: their status and their signals.
 */
export abstract class BaseConnection implements IConnection {
  /**
   * @param _status - The status until it is set to another.
   */
  constructor(private _status: IStatus = { kind: 'connecting' }) {}

  abstract readonly isLive: boolean;

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

  abstract request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']>;

  abstract execute(code: string, isWanted?: () => boolean): Promise<void>;

  abstract interrupt(): Promise<void>;

  abstract open(isExpected?: boolean): Promise<void>;

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.release();
    Signal.clearData(this);
  }

  /**
   * Release the connection's resources; called once, when it is disposed.
   */
  protected release(): void {
    // Nothing, unless a connection holds something.
  }

  protected setStatus(status: IStatus): void {
    this._status = status;
    this._statusChanged.emit(status);
  }

  protected emitOpened(state: HelloResult): void {
    this._opened.emit(state);
  }

  protected emitEvent(event: EventOf): void {
    this._event.emit(event);
  }

  private _isDisposed = false;
  private _statusChanged = new Signal<IConnection, IStatus>(this);
  private _opened = new Signal<IConnection, HelloResult>(this);
  private _event = new Signal<IConnection, EventOf>(this);
}
