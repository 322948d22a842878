import { Kernel, Region } from '../../protocol/types';
import { GraphIndex } from './nodes';

/**
 * The data of a compilation in which a selection is looked up; only what was
 * needed and available.
 */
export interface ILinkData {
  /**
   * The kernels of the variants that are shown; those of one launch may have
   * another name in another variant.
   */
  readonly kernels: readonly Kernel[];

  /**
   * Stage → its nodes.
   */
  readonly graphs: ReadonlyMap<string, GraphIndex>;

  /**
   * Key → the launch in the wrappers. Distinguishes the launches of one kernel.
   */
  readonly launches: ReadonlyMap<string, Region>;

  /**
   * The report's files: the user's cells.
   */
  readonly files: Readonly<Record<string, string>>;
}
