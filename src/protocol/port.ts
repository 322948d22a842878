import { UUID } from '@lumino/coreutils';
import { BaseConnection } from './baseConnection';
import { Client } from './client';
import { problem, problemOf } from './errors';
import { eventOf } from './events';
import type { FromPanel, ToPanel } from './portMessages';
import type { Commands, HelloResult } from './types';

/**
 * How often the panel sends the kernel a heartbeat, in milliseconds. The kernel
 * forgets a client after three minutes.
 */
const HEARTBEAT = 20_000;

/**
 * How long a reply may take before the panel says that it waits for the kernel, in
 * milliseconds.
 */
const SILENCE_MS = 3_000;

/**
 * How long a reply may take before the panel says that the kernel may have ended, in
 * milliseconds. A widget cannot see the kernel's state.
 */
const GONE_AFTER_MS = 60_000;

/**
 * The connection of a panel in a notebook's output: a message port to the script
 * that created the panel.
 */
export class PortConnection extends BaseConnection {
  readonly isLive = true;

  constructor(private _port: MessagePort) {
    super();
    _port.addEventListener('message', this._onMessage);
    _port.start();
    this._clock = window.setInterval(() => this._sendHeartbeat(), HEARTBEAT);
    document.addEventListener('visibilitychange', this._onVisibility);
  }

  async request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']> {
    this._owed++;
    this._wait();
    try {
      return await this._client.request(command, args);
    } finally {
      this._owed--;
      this._wait();
    }
  }

  /**
   * Nothing: this kernel's end starts jobs by itself, and gives no code.
   */
  execute(): Promise<void> {
    return Promise.resolve();
  }

  interrupt(): Promise<void> {
    this._post({ kind: 'interrupt' });
    return Promise.resolve();
  }

  async open(): Promise<void> {
    const attempt = ++this._attempt;
    const isOpen = () => !this.isDisposed && this.status.kind !== 'dead';
    let state: HelloResult;
    try {
      state = await this.request('hello', {});
    } catch (error) {
      if (attempt === this._attempt && isOpen()) {
        this.setStatus({ kind: 'error', problem: problemOf(error) });
      }
      return;
    }
    if (attempt === this._attempt && !this.isDisposed) {
      this._wasOpened = true;
      this.setStatus({ kind: 'ready' });
      this.emitOpened(state);
    }
  }

  protected override release(): void {
    clearInterval(this._clock);
    clearTimeout(this._silence);
    document.removeEventListener('visibilitychange', this._onVisibility);
    this._port.removeEventListener('message', this._onMessage);
    this._port.close();
    this._client.rejectAll(GONE);
  }

  private _post(message: FromPanel): void {
    this._port.postMessage(message);
  }

  private _onMessage = ({ data }: MessageEvent): void => {
    const message = data as ToPanel;
    switch (message.kind) {
      case 'reply':
        this._onHeard();
        this._client.receive(message.data);
        break;
      case 'event': {
        this._onHeard();
        const event = eventOf(message.data);
        if (event) {
          this.emitEvent(event);
        }
        break;
      }
      case 'check':
        void this.open();
        break;
      case 'closed':
        this.setStatus({ kind: 'dead' });
        this._client.rejectAll(GONE);
        break;
    }
  };

  /**
   * The kernel spoke, so it is there.
   */
  private _onHeard(): void {
    const { kind } = this.status;
    if (this._wasOpened && kind !== 'ready') {
      this.setStatus({ kind: 'ready' });
    }
    this._wait();
  }

  /**
   * Report that the kernel is silent once it has been silent for long.
   */
  private _wait(): void {
    clearTimeout(this._silence);
    if (this._owed > 0 && !this.isDisposed) {
      this._silence = window.setTimeout(() => {
        if (this.status.kind === 'ready' || !this._wasOpened) {
          this.setStatus({ kind: 'busy' });
        }
        this._silence = window.setTimeout(() => {
          if (this.status.kind === 'busy') {
            this.setStatus({ kind: 'error', problem: SILENT });
          }
        }, GONE_AFTER_MS - SILENCE_MS);
      }, SILENCE_MS);
    }
  }

  /**
   * Also to a kernel that owes an answer: of one that is gone, the notebook says
   * so once something is sent.
   */
  private _sendHeartbeat(): void {
    if (this._wasOpened && this.status.kind !== 'dead') {
      this._client.request('heartbeat', {}).catch(() => undefined);
    }
  }

  /**
   * Browsers slow the timers of hidden pages down so far that the kernel may
   * have forgotten this one.
   */
  private _onVisibility = (): void => {
    if (document.visibilityState === 'visible' && this._wasOpened) {
      void this.open();
    }
  };

  private _attempt = 0;
  private _clock: number;
  private _owed = 0;
  private _silence = 0;
  private _wasOpened = false;
  private _client = new Client({
    client: UUID.uuid4(),
    send: request => this._post({ kind: 'request', request })
  });
}

const GONE = problem({
  what: 'The panel is no longer connected to its kernel',
  why: 'The kernel was restarted or shut down, or the cell was run again',
  remedy: 'Run the cell again.'
});

const SILENT = problem({
  what: 'The kernel does not answer',
  why: 'It runs a cell, or it was restarted or shut down',
  remedy:
    'The panel continues by itself once the cell is done. If the kernel is gone, run the cell again.'
});
