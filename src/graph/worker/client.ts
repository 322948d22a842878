import { CompoundLayout } from '../layout/compound';
import type { ILayout, ILayoutGraph } from '../layout/types';
import type { LayoutReply, LayoutRequest } from './messages';
import { runInSlices } from './slices';

/**
 * Creates the worker for layouts; null if the page cannot have one.
 */
export type WorkerFactory = () => Worker | null;

/**
 * A layout, and how long it took.
 */
export interface ILaidOut {
  readonly layout: ILayout;
  readonly milliseconds: number;
}

/**
 * The longest time that the page is blocked without a worker, in milliseconds.
 */
const SLICE_MS = 8;

/**
 * Lays out one graph, in a worker if possible, otherwise in slices on the
 * page's thread. A new request cancels earlier ones.
 */
export class LayoutClient {
  /**
   * @param onFallback - Called with the reason if there is no worker.
   */
  constructor(
    private _graph: ILayoutGraph,
    factory: WorkerFactory,
    private _onFallback: (why: string) => void
  ) {
    try {
      this._worker = factory();
      if (!this._worker) {
        this._fallBack('');
      }
    } catch (error) {
      this._fallBack(error instanceof Error ? error.message : String(error));
    }
    const worker = this._worker;
    if (worker) {
      worker.onmessage = event => this._onReply(event.data as LayoutReply);
      worker.onerror = event => {
        event.preventDefault();
        this._fallBack(event.message || '');
      };
      this._post({ kind: 'graph', graph: this._graph });
    }
  }

  /**
   * Lay out with some groups open.
   *
   * @returns Null if another request, or `cancel`, came in between.
   */
  run(open: Uint8Array): Promise<ILaidOut | null> {
    this.cancel();
    const id = ++this._id;
    return new Promise((resolve, reject) => {
      this._pending = { id, open, resolve, reject };
      if (this._worker) {
        this._post({ kind: 'layout', id, open });
      } else {
        void this._runHere();
      }
    });
  }

  /**
   * Stop the current layout.
   */
  cancel(): void {
    const pending = this._pending;
    if (pending) {
      this._pending = null;
      this._post({ kind: 'cancel', id: pending.id });
      pending.resolve(null);
    }
  }

  dispose(): void {
    this.cancel();
    this._worker?.terminate();
    this._worker = null;
  }

  private _post(request: LayoutRequest): void {
    this._worker?.postMessage(request);
  }

  private _onReply(reply: LayoutReply): void {
    const pending = this._pending;
    if (pending?.id !== reply.id) {
      return;
    }
    this._pending = null;
    if (reply.kind === 'done') {
      pending.resolve(reply);
    } else {
      pending.reject(new Error(reply.message));
    }
  }

  private _fallBack(why: string): void {
    this._worker?.terminate();
    this._worker = null;
    this._onFallback(why);
    if (this._pending) {
      void this._runHere();
    }
  }

  private async _runHere(): Promise<void> {
    const pending = this._pending!;
    this._here ??= new CompoundLayout(this._graph);
    try {
      const start = performance.now();
      const layout = await runInSlices(
        this._here.run(pending.open),
        () => this._pending !== pending,
        SLICE_MS
      );
      if (layout && this._pending === pending) {
        this._pending = null;
        pending.resolve({ layout, milliseconds: performance.now() - start });
      }
    } catch (error) {
      pending.reject(error);
    }
  }

  private _worker: Worker | null = null;
  private _here: CompoundLayout | null = null;
  private _id = 0;
  private _pending: {
    id: number;
    open: Uint8Array;
    resolve: (result: ILaidOut | null) => void;
    reject: (error: unknown) => void;
  } | null = null;
}
