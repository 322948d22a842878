import { IColoring } from '../color/coloring';
import { IFusion } from '../kernels';
import { Scene } from './scene';
import { ITheme } from './theme';

/**
 * What is painted.
 */
export interface IPicture {
  readonly scene: Scene;
  readonly coloring: IColoring;

  /**
   * Hulls to draw; empty unless boxes are colored by kernel.
   */
  readonly fusions: readonly IFusion[];
  readonly theme: ITheme;

  /**
   * Says how many nodes a group has.
   */
  readonly sizeText: (size: number) => string;

  /**
   * Group → how its nodes' colors are shared out: swatch and share of the
   * nodes, in turn.
   */
  readonly shares: (group: number) => readonly (readonly [number, number])[];
}

/**
 * Below these scales details are left out.
 */
export const DETAIL = { text: 0.42, name: 0.26, box: 0.06, edge: 0.05 };
