import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type { ISubjectModel } from '../../interfaces/subject';

/**
 * A model as one view sees it. While the view is hidden, signals are held back; when it
 * is shown again, each signal that was emitted meanwhile is emitted once, with the last
 * arguments. So hidden views do no work, without any code of their own for that.
 */
export class HeldModel implements IDisposable {
  constructor(source: ISubjectModel) {
    this.model = new Proxy(source, {
      // The members are the model's own, and so is their `this`.
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (isSignal(value)) {
          return this._hold(String(key), value);
        }
        return typeof value === 'function' ? value.bind(target) : value;
      },
      set: (target, key, value) => Reflect.set(target, key, value, target)
    });
  }

  /**
   * The model for the view.
   */
  readonly model: ISubjectModel;

  /**
   * Whether signals are passed on as they are emitted.
   */
  get isOpen(): boolean {
    return this._isOpen;
  }
  set isOpen(isOpen: boolean) {
    this._isOpen = isOpen;
    while (this._isOpen && this._waiting.size > 0) {
      const [[name, args]] = this._waiting;
      this._waiting.delete(name);
      this._signals.get(name)!.emit(args);
    }
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._waiting.clear();
      Signal.clearData(this);
    }
  }

  private _hold(name: string, source: AnySignal): AnySignal {
    let held = this._signals.get(name);
    if (!held) {
      const forwarded = new Signal<unknown, unknown>(this.model);
      held = forwarded;
      this._signals.set(name, forwarded);
      if (!this._isDisposed) {
        source.connect((_, args) => {
          if (this._isOpen) {
            forwarded.emit(args);
          } else {
            this._waiting.set(name, args);
          }
        }, this);
      }
    }
    return held;
  }

  private _isOpen = false;
  private _isDisposed = false;
  private _signals = new Map<string, Signal<unknown, unknown>>();

  /**
   * Signal → its last arguments; in the order of the first emissions.
   */
  private _waiting = new Map<string, unknown>();
}

type AnySignal = ISignal<unknown, unknown>;

function isSignal(value: unknown): value is AnySignal {
  const { connect, disconnect } = (value ?? {}) as Partial<AnySignal>;
  return typeof connect === 'function' && typeof disconnect === 'function';
}
