import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';

/**
 * How much longer than its comm a subshell lasts, in milliseconds.
 */
const SUBSHELL_LINGER_MS = 1_000;

/**
 * A comm that this page opened, on a subshell if the kernel has subshells.
 */
export class Channel implements IDisposable {
  /**
   * Open a comm.
   *
   * @returns The open channel; null if it is not wanted any more.
   */
  static async open(options: Channel.IOptions): Promise<Channel | null> {
    const { kernel, target, data } = options;
    const comm = kernel.createComm(target);
    let hold: Kernel.IComm | null = null;
    if (usesSubshells(kernel)) {
      hold = kernel.createComm(target);
      // Until this resolves the comm has no subshell to be opened on; where
      // the kernel has none, it never resolves.
      await (comm as ISubshellComm).subshellStarted;
    }
    if (comm.isDisposed || kernel.isDisposed || options.isStale()) {
      comm.dispose();
      hold?.dispose();
      return null;
    }
    const channel = new Channel(comm, hold, options);
    comm.open(data);
    return channel;
  }

  /**
   * @param _comm - The comm.
   * @param _hold - A comm of the same target that is never opened. JupyterLab
   * has the subshell of a target deleted together with its last comm, while the
   * kernel may still be at work on the closing; what is left undone then shows
   * up as a warning in the cell that the user runs. This one lasts longer.
   */
  private constructor(
    private _comm: Kernel.IComm,
    private _hold: Kernel.IComm | null,
    private _options: Channel.IOptions
  ) {
    _comm.onMsg = message => {
      if (!this._isDisposed) {
        this._options.onMessage(message.content.data);
      }
    };
    _comm.onClose = () => {
      this._release();
      if (!this._isDisposed) {
        this._isDisposed = true;
        this._options.onClose();
      }
    };
  }

  /**
   * Whether it can still be sent on: a restart disposes comms silently.
   */
  get isOpen(): boolean {
    return !this._isDisposed && !this._comm.isDisposed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Send data to the kernel.
   */
  send(data: JSONObject): void {
    this._comm.send(data);
  }

  /**
   * Stop listening without closing the comm: the kernel closes it itself.
   */
  abandon(): void {
    this._isDisposed = true;
  }

  /**
   * Close the comm, if the kernel is still alive.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    if (!this._comm.isDisposed && !this._options.kernel.isDisposed) {
      this._comm.close();
    }
    this._release();
  }

  /**
   * Delete the subshell once it is idle.
   */
  private _release(): void {
    const hold = this._hold;
    this._hold = null;
    if (hold) {
      setTimeout(() => {
        // It also ends when the kernel restarts or ends.
        if (!hold.isDisposed && !this._options.kernel.isDisposed) {
          hold.dispose();
        }
      }, SUBSHELL_LINGER_MS);
    }
  }

  private _isDisposed = false;
}

/**
 * The namespace for `Channel` statics.
 */
export namespace Channel {
  /**
   * What a channel is opened with.
   */
  export interface IOptions {
    kernel: Kernel.IKernelConnection;
    target: string;

    /**
     * What the comm is opened with.
     */
    data: JSONObject;

    /**
     * Whether the channel is no longer needed by the time it can be opened.
     */
    isStale: () => boolean;

    /**
     * Takes what the kernel sends.
     */
    onMessage: (data: KernelMessage.ICommMsgMsg['content']['data']) => void;

    /**
     * Called when the kernel closes the comm; not called after `dispose`.
     */
    onClose: () => void;
  }
}

/**
 * Whether comms of this kernel are handled while a cell runs.
 */
export function usesSubshells(kernel: Kernel.IKernelConnection): boolean {
  return (
    kernel.supportsSubshells &&
    kernel.commsOverSubshells !== undefined &&
    kernel.commsOverSubshells !== 'disabled'
  );
}

/**
 * What JupyterLab's comms have beside their interface.
 */
interface ISubshellComm extends Kernel.IComm {
  readonly subshellStarted: Promise<void>;
}
