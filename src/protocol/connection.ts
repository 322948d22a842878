import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import { UUID } from '@lumino/coreutils';
import { BaseConnection } from './baseConnection';
import { Channel, usesSubshells } from './channel';
import { Client, problem, problemOf, RequestError } from './client';
import { eventOf } from './events';
import { execute } from './execute';
import type { EventOf } from './interface';
import { probe } from './probe';
import { withEvents } from './state';
import type { Commands, HelloResult } from './types';
import { EVENTS_TARGET, PROTOCOL_VERSION, REQUESTS_TARGET } from './types';

export type { EventOf, IConnection } from './interface';

/**
 * How often this page sends the kernel a heartbeat, in milliseconds. The kernel
 * forgets a client after a minute.
 */
const HEARTBEAT = 20_000;

/**
 * How long a request may wait for a busy kernel before the panel says so, in
 * milliseconds.
 */
const QUEUED = 400;

/**
 * How long a kernel may be busy while no cell runs, in milliseconds.
 */
export const BUSY_TIMEOUT_MS = 1_000;

/**
 * How often a kernel that serves panels may close the comms right after they
 * are opened.
 */
const MAX_REFUSALS = 3;

/**
 * The error of requests that were pending when the connection was lost.
 */
const LOST = problem({
  what: 'The connection to the kernel was lost',
  why: 'The connection to the server was lost before the kernel answered',
  remedy: 'Try again once JupyterLab is connected.'
});

/**
 * The two comms of one page with one kernel.
 *
 * `requests` carries requests and replies. `events` is only ever sent on by
 * the kernel: it routes a message to the thread that last published on the
 * message's comm, so that a request on a comm used for progress would wait for
 * the very work whose progress it is.
 */
export class Connection extends BaseConnection {
  readonly isLive = true;

  constructor(private _kernel: Kernel.IKernelConnection) {
    super();
    this._client = new Client({
      client: this._id,
      send: request => {
        if (!this._requests?.isOpen) {
          throw new RequestError(
            problem({
              what: 'The kernel is not connected',
              why: 'It was restarted or stopped, or the connection to it was lost. A restarted kernel no longer has what was compiled.',
              remedy: 'Run the cell again.'
            }),
            'closed'
          );
        }
        this._requests.send(request as unknown as JSONObject);
      }
    });
    _kernel.statusChanged.connect(this._onKernelStatus, this);
    _kernel.connectionStatusChanged?.connect(this._onSocket, this);
    this._heartbeat = window.setInterval(
      () => this._sendHeartbeat(),
      HEARTBEAT
    );
    document.addEventListener('visibilitychange', this._onVisibility);
  }

  async request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']> {
    const timer = window.setTimeout(() => {
      if (this._isQueued && this.status.kind === 'ready') {
        this.setStatus({ kind: 'busy' });
      }
    }, QUEUED);
    try {
      return await this._client.request(command, args);
    } finally {
      clearTimeout(timer);
      if (this._wasOpened && this.status.kind === 'busy') {
        this.setStatus({ kind: 'ready' });
      }
    }
  }

  async execute(code: string, isWanted?: () => boolean): Promise<void> {
    const raised = await execute(this._kernel, code, isWanted);
    if (raised) {
      throw new RequestError(raised, 'reply');
    }
  }

  interrupt(): Promise<void> {
    return this._kernel.interrupt();
  }

  async open(isExpected = false): Promise<void> {
    if (this._kernel.isDisposed) {
      return;
    }
    const attempt = ++this._attempt;
    const isStale = () => this.isDisposed || attempt !== this._attempt;
    if (!this._requests?.isOpen || !this._events?.isOpen) {
      this.setStatus({ kind: 'connecting' });
      try {
        if (!(await this._isPython()) || isStale()) {
          return;
        }
        this._close();
        if (!isExpected && !(await this._servesPanels(isStale))) {
          return;
        }
        await this._openChannels(isStale);
      } catch (error) {
        if (!isStale()) {
          this.setStatus({ kind: 'error', problem: problemOf(error) });
        }
        return;
      }
    }
    if (!isStale()) {
      await this._hello(isStale);
    }
  }

  protected override release(): void {
    clearInterval(this._heartbeat);
    document.removeEventListener('visibilitychange', this._onVisibility);
    this._kernel.statusChanged.disconnect(this._onKernelStatus, this);
    this._kernel.connectionStatusChanged?.disconnect(this._onSocket, this);
    this._close();
  }

  /**
   * Whether requests have to wait until the kernel finishes a cell.
   */
  private get _isQueued(): boolean {
    return this._kernel.status === 'busy' && !usesSubshells(this._kernel);
  }

  /**
   * Wait until the kernel is idle, or is busy for longer than with what it does
   * for JupyterLab: its status comes after the reply that says what it is.
   */
  private _settled(): Promise<void> {
    const kernel = this._kernel;
    return new Promise(resolve => {
      const look = () => {
        if (kernel.status === 'idle') {
          done();
        }
      };
      const done = () => {
        clearTimeout(timer);
        kernel.statusChanged.disconnect(look);
        resolve();
      };
      const timer = window.setTimeout(done, BUSY_TIMEOUT_MS);
      kernel.statusChanged.connect(look);
      look();
    });
  }

  /**
   * Whether the kernel has the extension loaded; a kernel without it gets no subshells.
   * A busy kernel answers only after its cell: there, opening the comms is simply tried.
   */
  private async _servesPanels(isStale: () => boolean): Promise<boolean> {
    await this._settled();
    if (isStale() || this._kernel.status !== 'idle') {
      return !isStale();
    }
    const presence = await probe(this._kernel);
    if (isStale() || presence === 'serving') {
      return !isStale();
    }
    this.setStatus({ kind: presence });
    return false;
  }

  private async _isPython(): Promise<boolean> {
    const { language_info } = await this._kernel.info;
    if (/^(i?python)$/i.test(language_info.name)) {
      return true;
    }
    this.setStatus({ kind: 'unsupported', language: language_info.name });
    return false;
  }

  private async _openChannels(isStale: () => boolean): Promise<void> {
    const kernel = this._kernel;
    // Events first: nothing may be missed between hello and the first push.
    const events = await Channel.open({
      kernel,
      isStale,
      target: EVENTS_TARGET,
      data: { client: this._id },
      onMessage: data => this._onEvent(data),
      onClose: () => this._onClose()
    });
    const requests = await Channel.open({
      kernel,
      isStale,
      target: REQUESTS_TARGET,
      data: { client: this._id, protocol: PROTOCOL_VERSION },
      onMessage: data => this._client.receive(data),
      onClose: () => this._onClose()
    });
    if (isStale()) {
      events?.dispose();
      requests?.dispose();
      return;
    }
    this._events = events;
    this._requests = requests;
  }

  private async _hello(isStale: () => boolean): Promise<void> {
    if (this._isQueued) {
      this.setStatus({ kind: 'busy' });
    }
    let state: HelloResult;
    const pushed: EventOf[] = [];
    this._pushed = pushed;
    try {
      state = withEvents(await this._client.request('hello', {}), pushed);
    } catch (error) {
      // A comm closed at once is looked into by `_onClose`.
      if (
        !isStale() &&
        !(error instanceof RequestError && error.kind === 'closed')
      ) {
        this.setStatus({ kind: 'error', problem: problemOf(error) });
      }
      return;
    }
    if (isStale()) {
      return;
    }
    this._pushed = null;
    if (state.protocol !== PROTOCOL_VERSION) {
      this.setStatus({
        kind: 'error',
        problem: problem({
          what: 'The kernel and JupyterLab have different versions of compilescope',
          why: `The kernel speaks protocol ${state.protocol}, this front end ${PROTOCOL_VERSION}`,
          remedy:
            'Install the same version of jupyterlab-compilescope for both, then reload the page.'
        })
      });
      return;
    }
    // The kernel answers in turn: what it was asked before the connection was
    // lost and has not answered by now, it never will.
    this._client.rejectAll(LOST, this._lost);
    this._wasOpened = true;
    this._refusals = 0;
    this.setStatus({ kind: 'ready' });
    this.emitOpened(state);
  }

  private _onEvent(data: unknown): void {
    const event = eventOf(data);
    if (event) {
      this._pushed?.push(event);
      this.emitEvent(event);
    }
  }

  /**
   * The kernel closed a comm: it has forgotten this client or, before `hello`, does not
   * have the extension loaded.
   */
  private _onClose(): void {
    if (this._wasOpened) {
      this._close();
      void this.open();
    } else {
      // It closes both; to close the other one too would cross its message.
      this._events?.abandon();
      this._requests?.abandon();
      this._close();
      void this._lookInto();
    }
  }

  private async _lookInto(): Promise<void> {
    const attempt = ++this._attempt;
    if (this._kernel.status === 'busy') {
      this.setStatus({ kind: 'busy' });
    }
    const presence = await probe(this._kernel);
    if (this.isDisposed || attempt !== this._attempt) {
      return;
    }
    if (presence !== 'serving') {
      this.setStatus({ kind: presence });
    } else if (this._refusals++ < MAX_REFUSALS) {
      // It was loaded while the question waited behind a cell.
      void this.open();
    } else {
      this.setStatus({
        kind: 'error',
        problem: problem({
          what: 'The kernel closes the connection as soon as it is opened',
          remedy: 'Restart the kernel.'
        })
      });
    }
  }

  private _close(): void {
    this._wasOpened = false;
    this._events?.dispose();
    this._requests?.dispose();
    this._events = null;
    this._requests = null;
    this._client.rejectAll(
      problem({
        what: 'The connection to the kernel was closed',
        why: 'The kernel was restarted, shut down or changed',
        remedy: 'Run the cell again.'
      })
    );
  }

  private _onKernelStatus(_: unknown, status: KernelMessage.Status): void {
    switch (status) {
      case 'dead':
        this._attempt++;
        this._close();
        this.setStatus({ kind: 'dead' });
        break;
      case 'restarting':
      case 'autorestarting':
        this._isRestarting = true;
        this._attempt++;
        this._close();
        this.setStatus({ kind: 'connecting', isRestart: true });
        break;
      case 'idle':
      case 'busy':
        if (this._isRestarting) {
          this._isRestarting = false;
          void this.open();
        }
        break;
    }
  }

  /**
   * After the network came back, what was pushed meanwhile is asked for.
   */
  private _onSocket(_: unknown, status: Kernel.ConnectionStatus): void {
    if (status !== 'connected') {
      this._wasOffline = true;
      this._lost = this._client.sent;
    } else if (this._wasOffline && this._wasOpened) {
      this._wasOffline = false;
      void this.open();
    }
    if (status === 'disconnected' && this._wasOpened) {
      // JupyterLab has given up to connect again by itself.
      this._client.rejectAll(LOST);
      this.setStatus({ kind: 'error', problem: LOST });
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

  private _sendHeartbeat(): void {
    if (this._wasOpened && !this._isQueued && !this._isBeating) {
      this._isBeating = true;
      // Without an answer the next request says what is wrong.
      this._client
        .request('heartbeat', {})
        .catch(() => undefined)
        .finally(() => {
          this._isBeating = false;
        });
    }
  }

  private _id = UUID.uuid4();
  private _client: Client;
  private _requests: Channel | null = null;
  private _events: Channel | null = null;
  private _attempt = 0;
  private _heartbeat: number;
  private _isBeating = false;
  private _isRestarting = false;
  private _lost = 0;
  /** What was pushed since hello was said; null once it is answered. */
  private _pushed: EventOf[] | null = null;
  private _refusals = 0;
  private _wasOffline = false;
  private _wasOpened = false;
}
