import type { Graph, Kernel, Region } from '../protocol/types';
import type { IStageDiff } from './diff/diff';
import { diffStages } from './diff/diff';
import { withGhosts } from './diff/ghosts';
import type { Basis } from './grouping/owners';
import { basesOf } from './grouping/owners';
import { groupNodes } from './grouping/tree';
import type { IIndexed } from './indexed';
import { indexGraph } from './indexed';
import type { IFusion } from './kernels';
import { findFusions } from './kernels';
import type { IGrouping } from './grouping/types';

/**
 * The data of a stage.
 */
export interface IStageData {
  readonly graph: Graph;

  /**
   * The stage before, and the other half of what that was split in.
   */
  readonly before: Graph | null;
  readonly other: Graph | null;
  readonly kernels: readonly Kernel[];

  /**
   * The regions of a wrapper's text.
   */
  readonly regions: readonly Region[];
}

/**
 * A stage, ready to be laid out.
 */
export interface IPrepared {
  readonly stage: string;
  readonly graph: IIndexed;
  readonly grouping: IGrouping;
  readonly bases: readonly Basis[];
  readonly fusions: readonly IFusion[];

  /**
   * Node → the fusion that it is part of.
   */
  readonly fusionOf: ReadonlyMap<number, IFusion>;
  readonly diff: IStageDiff | null;

  /**
   * How many removed nodes could not be placed.
   */
  readonly unplaced: number;
}

/**
 * @param basis - What to group by; null for the best there is.
 * @param isWithRemoved - Whether removed nodes are drawn too.
 */
export function prepareStage(
  data: IStageData,
  basis: Basis | null,
  isWithRemoved: boolean
): IPrepared {
  const { graph: stage, before, other, kernels, regions } = data;
  const diff = before && diffStages(before, stage, other);
  const { nodes, unplaced } =
    diff && isWithRemoved
      ? withGhosts(stage.nodes, diff)
      : { nodes: stage.nodes, unplaced: diff?.removed.length ?? 0 };
  const graph = indexGraph(nodes);
  const fusions = findFusions(graph, stage.stage, kernels, regions);
  const fusionOf = new Map<number, IFusion>();
  const labelOf = new Map<number, string>();
  const met = new Map<string, number>();
  for (const fusion of fusions) {
    const { name } = fusion.kernel;
    const time = (met.get(name) ?? 0) + 1;
    met.set(name, time);
    const label = time > 1 ? `${name} ·${time}` : name;
    for (const node of fusion.nodes) {
      if (!fusionOf.has(node)) {
        fusionOf.set(node, fusion);
        labelOf.set(node, label);
      }
    }
  }
  const bases = basesOf(graph, fusions.length > 0);
  const chosen = basis && bases.includes(basis) ? basis : bases[0];
  // Kernels alone are no way to read a graph that has none of the others.
  const first = !basis && chosen === 'kernel' ? 'none' : chosen;
  const grouping = groupNodes(graph, stage.stage, first, labelOf);
  return {
    stage: stage.stage,
    graph,
    grouping,
    bases,
    fusions,
    fusionOf,
    diff,
    unplaced
  };
}
