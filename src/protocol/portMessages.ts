import type { Request, ToWidget } from './types';

/**
 * The appearance of the notebook that contains a panel.
 */
export interface IAppearance {
  readonly isDark: boolean;

  /**
   * Whether the panel fills the window.
   */
  readonly isFull: boolean;

  /**
   * Whether it can: an output in a frame of its own, as in VS Code and in Colab,
   * cannot be larger than that frame.
   */
  readonly canFill: boolean;
}

/**
 * What a panel in a cell's output says to the page around it.
 */
export type FromPanel =
  | { kind: 'request'; request: Request }
  | { kind: 'interrupt' }
  /**
   * Have the panel fill the window, or not any more.
   */
  | { kind: 'fill'; isFull: boolean };

/**
 * What the page around a panel says to it.
 */
export type ToPanel =
  /**
   * What the kernel says.
   */
  | { kind: 'reply' | 'event'; data: ToWidget['data'] }
  /**
   * There is no kernel any more.
   */
  | { kind: 'closed' }
  /**
   * The kernel may be gone, or back.
   */
  | { kind: 'check' }
  | { kind: 'appearance'; appearance: IAppearance };

/**
 * The message to a panel's window that brings its port.
 */
export interface IConnect {
  readonly kind: 'compilescope-connect';
  readonly appearance: IAppearance;
}

/**
 * Whether a message to a window brings a panel's port.
 */
export function isConnect(message: unknown): message is IConnect {
  return (message as IConnect | null)?.kind === 'compilescope-connect';
}
