import type { ColorMode } from '../../graph/color/coloring';
import type { Basis } from '../../graph/grouping/owners';
import type { Kernel } from '../../protocol/types';

/**
 * What the view shows.
 */
export interface IGraphData {
  readonly subject: string;

  /**
   * The revision of the report from which it was loaded.
   */
  readonly revision: number;
  readonly variant: string;
  readonly compilation: string;

  /**
   * The available stages, in the order in which torch produces them.
   */
  readonly stages: readonly string[];

  /**
   * Stage → why it is missing.
   */
  readonly absent: Readonly<Record<string, string>>;
  readonly kernels: readonly Kernel[];
}

/**
 * The display settings, shared by both sides.
 */
export interface ISettings {
  readonly mode: ColorMode;

  /**
   * Null for the best one available.
   */
  readonly basis: Basis | null;
  readonly query: string;
  readonly isOutlined: boolean;

  /**
   * Whether the list of decompositions is shown beside the graph.
   */
  readonly isListed: boolean;
}

/**
 * The interface of a pane to the rest of the view.
 */
export interface IPaneHandle {
  readonly stage: string;
  zoom(factor: number): void;
  fit(): void;
  openAll(): void;
  closeAll(): void;
  export(kind: 'svg' | 'png'): void;
  find(step: 1 | -1): void;
}
