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
   * Whether it can fill the window: in a frame of its own, as in VS Code and in
   * Colab, an output cannot be larger than that frame.
   */
  readonly canFill: boolean;
}

/**
 * A message from a panel in a cell's output to the page around it.
 */
export type FromPanel =
  | { kind: 'request'; request: Request }
  | { kind: 'interrupt' }
  /**
   * Make the panel fill the window, or restore its size.
   */
  | { kind: 'fill'; isFull: boolean };

/**
 * A message from the page around a panel to the panel.
 */
export type ToPanel =
  /**
   * A message of the kernel.
   */
  | { kind: 'reply' | 'event'; data: ToWidget['data'] }
  /**
   * The kernel has ended.
   */
  | { kind: 'closed' }
  /**
   * The kernel may have ended, or may be back.
   */
  | { kind: 'check' }
  | { kind: 'appearance'; appearance: IAppearance };

/**
 * The message to a panel's window that contains its port.
 */
export interface IConnect {
  readonly kind: 'compilescope-connect';
  readonly appearance: IAppearance;
}

/**
 * Whether a message to a window contains a panel's port.
 */
export function isConnect(message: unknown): message is IConnect {
  return (message as IConnect | null)?.kind === 'compilescope-connect';
}
