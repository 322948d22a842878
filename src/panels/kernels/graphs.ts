import * as React from 'react';
import type { ISubjectModel } from '../../interfaces/subject';
import { problemOf } from '../../protocol/client';
import type {
  CompilationSummary,
  Decision,
  Kernel
} from '../../protocol/types';

/**
 * What is read of one compilation.
 */
export interface IGraphKernels {
  /**
   * The compilation's id.
   */
  readonly id: string;
  readonly kernels: readonly Kernel[];
  readonly decisions: readonly Decision[];

  /**
   * Why there are no kernels; empty where there are some.
   */
  readonly why: string;
}

/**
 * So many compilations are read at first; then twice as many each time, up to a limit.
 */
const FIRST = 4;
const MOST = 32;

/**
 * The compilations of a variant that have kernels.
 */
export function graphsOf(
  { report }: ISubjectModel,
  variant: string
): readonly CompilationSummary[] {
  const summary = report?.variants.find(({ name }) => name === variant);
  return summary?.compilations.filter(({ kernels }) => kernels > 0) ?? [];
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

/**
 * The kernels of several compilations, by id: the first at once, the others as they
 * come.
 *
 * @param first - What is read already. The others are read again when it changes.
 * @param ids - Those that are shown.
 */
export function useGraphs(
  first: IGraphKernels,
  ids: readonly string[],
  read: (id: string) => Promise<IGraphKernels>
): ReadonlyMap<string, IGraphKernels> {
  const [others, setOthers] = React.useState<
    ReadonlyMap<string, IGraphKernels>
  >(new Map());
  const readOne = async (id: string): Promise<IGraphKernels> => {
    try {
      return await read(id);
    } catch (error) {
      const why = problemOf(error).what;
      return { id, kernels: [], decisions: [], why };
    }
  };
  React.useEffect(() => {
    let isOpen = true;
    const readAll = async () => {
      const waiting = ids.filter(id => id !== first.id);
      for (let at = 0, size = FIRST; at < waiting.length;) {
        const part = waiting.slice(at, at + size);
        at += size;
        size = Math.min(2 * size, MOST);
        const graphs = await Promise.all(part.map(readOne));
        if (!isOpen) {
          return;
        }
        setOthers(
          known => new Map([...known, ...graphs.map(g => [g.id, g] as const)])
        );
      }
    };
    void readAll();
    return () => {
      isOpen = false;
    };
  }, [first, ids.join()]);
  return React.useMemo(
    () => new Map([...others, [first.id, first]]),
    [others, first]
  );
}
