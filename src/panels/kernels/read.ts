import type { ISubjectModel } from '../../interfaces/subject';
import type { Decision, Kernel } from '../../protocol/types';
import type { IGraph } from '../common/graphs';

/**
 * The kernels of one compilation.
 */
export interface IGraphKernels extends IGraph {
  readonly kernels: readonly Kernel[];
  readonly decisions: readonly Decision[];
}

/**
 * Read the kernels of one compilation.
 *
 * @param noCode - Why there are none, where torch says nothing.
 */
export async function readGraph(
  model: ISubjectModel,
  variant: string,
  id: string,
  noCode: string
): Promise<IGraphKernels> {
  const { kernels, decisions, absent } = await model.getCompilation(
    variant,
    id,
    ['kernels']
  );
  const why = kernels.length ? '' : (absent.kernels ?? absent.code ?? noCode);
  return { id, kernels, decisions, why };
}
