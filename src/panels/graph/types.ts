import type { ColorMode } from '../../graph/color/coloring';
import type { Basis } from '../../graph/grouping/owners';
import type { Kernel } from '../../protocol/types';

/**
 * What the view shows something of.
 */
export interface IGraphData {
  readonly subject: string;

  /**
   * The report's revision that it was loaded from.
   */
  readonly revision: number;
  readonly variant: string;
  readonly compilation: string;

  /**
   * The stages there are, in the order in which torch makes them.
   */
  readonly stages: readonly string[];

  /**
   * Stage → why it is not there.
   */
  readonly absent: Readonly<Record<string, string>>;
  readonly kernels: readonly Kernel[];
}

/**
 * How graphs are shown, on both sides alike.
 */
export interface ISettings {
  readonly mode: ColorMode;

  /**
   * Null for the best there is.
   */
  readonly basis: Basis | null;
  readonly query: string;
  readonly isOutlined: boolean;

  /**
   * Whether what became of each operator is listed beside the graph.
   */
  readonly isListed: boolean;
}

/**
 * What a pane lets the rest of the view do.
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
