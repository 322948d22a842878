import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { Connection } from '../protocol/connection';
import { SubjectModel } from './subject';

/**
 * Code after which the kernel's subjects are requested.
 */
const USES_COMPILESCOPE = /compilescope|%%compile\b/;

/**
 * Code that inspects a call.
 */
const INSPECTION = /^\s*%%compile\b/;

/**
 * Connects the model of one notebook or console to its current kernel: once a
 * view shows the model, or once the kernel runs code that mentions the package.
 */
export class KernelHandler implements IDisposable {
  constructor(
    private _context: ISessionContext,
    private _connects = true
  ) {
    this._context.kernelChanged.connect(this._onKernel, this);
    this._context.iopubMessage.connect(this._onMessage, this);
  }

  /**
   * The model; it outlives the kernels.
   */
  readonly model = new SubjectModel();

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Connect to the kernel, now and whenever it changes.
   */
  activate(): void {
    if (this._connects && !this._isActive && !this._isDisposed) {
      this._isActive = true;
      this._connect(this._context.session?.kernel ?? null);
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.model.dispose();
    Signal.clearData(this);
  }

  private _onKernel(
    _: unknown,
    change: { newValue: Kernel.IKernelConnection | null }
  ): void {
    this._mention = null;
    if (this._isActive) {
      this._connect(change.newValue);
    }
  }

  private _connect(kernel: Kernel.IKernelConnection | null): void {
    this.model.connection = kernel ? new Connection(kernel) : null;
  }

  private _onMessage(_: unknown, message: KernelMessage.IMessage): void {
    const { msg_type } = message.header;
    const parent = (message.parent_header as { msg_id?: string }).msg_id;
    if (msg_type === 'execute_input') {
      const { code } = (message as KernelMessage.IExecuteInputMsg).content;
      if (USES_COMPILESCOPE.test(code)) {
        this._mention = parent ?? null;
        this.model.awaitsInspection ||= INSPECTION.test(code);
        this.activate();
      }
    } else if (msg_type === 'status' && parent && parent === this._mention) {
      const { execution_state } = (message as KernelMessage.IStatusMsg).content;
      if (execution_state === 'idle') {
        this._mention = null;
        // The cell may have loaded the package. The kernel is idle for a moment
        // also where more cells are queued, behind which a question would wait.
        if (this.model.status.kind !== 'ready') {
          void this.model.connection?.open(true);
        }
      }
    }
  }

  private _isActive = false;
  private _isDisposed = false;
  private _mention: string | null = null;
}
