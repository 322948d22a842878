import { Kernel, Region } from '../../protocol/types';
import { GraphIndex } from './nodes';

/**
 * What is known of a compilation when a selection is looked up in it: all of
 * it, or less where no more was needed or could be had.
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
   * Key → what the wrappers say of the launch. Tells the launches of one kernel
   * apart.
   */
  readonly launches: ReadonlyMap<string, Region>;

  /**
   * The report's files: the user's cells.
   */
  readonly files: Readonly<Record<string, string>>;
}
