import type { Problem } from '../protocol/types';

/**
 * How a model stands with its kernel.
 *
 * - `none`: there is no kernel.
 * - `connecting`: the first answer has not come yet.
 * - `busy`: as connecting, but the kernel runs a cell and has no subshells, so
 *   requests wait until it is done.
 * - `ready`: requests are answered.
 * - `missing`: the kernel's environment lacks the package.
 * - `unloaded`: the package is there, its IPython extension is not loaded.
 * - `unsupported`: the kernel's language is not Python.
 * - `dead`: the kernel is gone; the last report stays visible.
 * - `error`: the kernel answered with an error; `problem` says which.
 */
export type ConnectionKind =
  | 'none'
  | 'connecting'
  | 'busy'
  | 'ready'
  | 'missing'
  | 'unloaded'
  | 'unsupported'
  | 'dead'
  | 'error';

/**
 * The state of the connection to a kernel.
 */
export interface IStatus {
  readonly kind: ConnectionKind;

  /**
   * The kernel's language, if `kind` is `unsupported`.
   */
  readonly language?: string;

  /**
   * What went wrong, if `kind` is `error`.
   */
  readonly problem?: Problem;

  /**
   * Whether the kernel was restarted, if `kind` is `connecting`: it has lost
   * its earlier requests.
   */
  readonly isRestart?: boolean;
}
