import * as React from 'react';
import type { ISubjectModel } from '../../interfaces/subject';
import { problemOf } from '../../protocol/client';
import type {
  CompilationSummary,
  Decision,
  Kernel
} from '../../protocol/types';

/**
 * The loaded data of one compilation.
 */
export interface IGraphKernels {
  /**
   * The compilation's id.
   */
  readonly id: string;
  readonly kernels: readonly Kernel[];
  readonly decisions: readonly Decision[];

  /**
   * Why there are no kernels; empty if there are some.
   */
  readonly why: string;
}

/**
 * The number of compilations read at first; it then doubles each time, up to a
 * limit.
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
 * Loads the kernels of one compilation.
 *
 * @param noCode - The reason for a lack of kernels if torch gives none.
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
 * A text that changes when a compilation's kernels have to be reloaded. In a report
 * that grows with each compilation, existing ones do not change.
 */
export function stampOf(
  { report }: ISubjectModel,
  { kernels, reduced }: CompilationSummary
): string {
  const { kind } = report!.subject;
  return kind === 'watch' || kind === 'trace'
    ? `${kernels} ${reduced}`
    : String(report!.revision);
}

/**
 * The kernels of several compilations by id: the first immediately, the others
 * as they arrive.
 *
 * @param first - The loaded one.
 * @param stamps - The ids of the shown compilations, each with its `stampOf`.
 */
export function useGraphs(
  first: IGraphKernels,
  stamps: ReadonlyMap<string, string>,
  read: (id: string) => Promise<IGraphKernels>
): ReadonlyMap<string, IGraphKernels> {
  const [others, setOthers] = React.useState<ReadonlyMap<string, IRead>>(
    new Map()
  );
  const readOne = async (id: string): Promise<readonly [string, IRead]> => {
    const stamp = stamps.get(id)!;
    try {
      return [id, { stamp, graph: await read(id) }];
    } catch (error) {
      const why = problemOf(error).what;
      return [id, { stamp, graph: { id, kernels: [], decisions: [], why } }];
    }
  };
  React.useEffect(() => {
    let isOpen = true;
    const readAll = async () => {
      const waiting = [...stamps.keys()].filter(
        id => id !== first.id && others.get(id)?.stamp !== stamps.get(id)
      );
      for (let at = 0, size = FIRST; at < waiting.length;) {
        const part = waiting.slice(at, at + size);
        at += size;
        size = Math.min(2 * size, MOST);
        const graphs = await Promise.all(part.map(readOne));
        if (!isOpen) {
          return;
        }
        setOthers(known => new Map([...known, ...graphs]));
      }
    };
    void readAll();
    return () => {
      isOpen = false;
    };
  }, [first.id, JSON.stringify([...stamps])]);
  return React.useMemo(
    () =>
      new Map([
        ...[...others].map(([id, { graph }]) => [id, graph] as const),
        [first.id, first]
      ]),
    [others, first]
  );
}

interface IRead {
  readonly stamp: string;
  readonly graph: IGraphKernels;
}
