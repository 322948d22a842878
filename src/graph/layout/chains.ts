import { SPACING } from './types';
import type { ILevelEdge } from './types';

/**
 * A level whose long edges are chains of bends, one in each rank. All edges of
 * one value share a chain.
 */
export interface IChains {
  /**
   * Boxes first, then bends.
   */
  readonly widths: number[];
  readonly ranks: number[];
  readonly isBend: (item: number) => boolean;

  /**
   * From one rank to the next; tied at so far from the items' middles.
   */
  readonly segments: ISegment[];

  /**
   * Edge → its bends; null for one that is too long to draw.
   */
  readonly routes: (number[] | null)[];
}

export interface ISegment {
  readonly a: number;
  readonly b: number;
  readonly aX: number;
  readonly bX: number;
  readonly weight: number;
}

/**
 * How many bends a level may have for each box, and at least.
 */
const BENDS_PER_BOX = 4;
const MIN_BENDS = 3000;

export function buildChains(
  count: number,
  edges: readonly ILevelEdge[],
  ranks: ArrayLike<number>,
  boxWidths: readonly number[]
): IChains {
  const widths = [...boxWidths];
  const allRanks = Array.from(ranks);
  const segments: ISegment[] = [];
  const routes: (number[] | null)[] = edges.map(() => null);
  const longest = lengthLimit(count, edges, ranks);
  const chains = new Map<string, number[]>();
  edges.forEach((edge, i) => {
    const { from, to } = edge;
    const start = allRanks[from];
    const span = allRanks[to] - start;
    if (span < 1 || span > longest) {
      return;
    }
    const key = `${from}:${edge.fromX}`;
    let chain = chains.get(key);
    if (!chain) {
      chain = [];
      chains.set(key, chain);
    }
    const fromX = edge.fromX - boxWidths[from] / 2;
    while (chain.length < span - 1) {
      const bend = widths.length;
      widths.push(SPACING.edge);
      allRanks.push(start + chain.length + 1);
      const before = chain.length > 0 ? chain[chain.length - 1] : from;
      segments.push({
        a: before,
        b: bend,
        aX: chain.length > 0 ? 0 : fromX,
        bX: 0,
        weight: chain.length > 0 ? 8 : 2
      });
      chain.push(bend);
    }
    segments.push({
      a: span > 1 ? chain[span - 2] : from,
      b: to,
      aX: span > 1 ? 0 : fromX,
      bX: edge.toX - boxWidths[to] / 2,
      weight: (span > 1 ? 2 : 1) * edge.weight
    });
    routes[i] = chain.slice(0, span - 1);
  });
  return {
    widths,
    ranks: allRanks,
    isBend: item => item >= count,
    segments,
    routes
  };
}

/**
 * The longest span that an edge can have and still be drawn: such that the level
 * stays small enough to lay out. Most levels draw all.
 */
function lengthLimit(
  count: number,
  edges: readonly ILevelEdge[],
  ranks: ArrayLike<number>
): number {
  const reach = new Map<string, number[]>();
  for (const edge of edges) {
    const key = `${edge.from}:${edge.fromX}`;
    const spans = reach.get(key) ?? [];
    spans.push(ranks[edge.to] - ranks[edge.from]);
    reach.set(key, spans);
  }
  const budget = Math.max(MIN_BENDS, BENDS_PER_BOX * count);
  let longest = 0;
  reach.forEach(spans => (longest = Math.max(longest, ...spans)));
  const bends = (limit: number) => {
    let sum = 0;
    reach.forEach(spans => {
      let most = 0;
      for (const span of spans) {
        most = span <= limit ? Math.max(most, span) : most;
      }
      sum += Math.max(0, most - 1);
    });
    return sum;
  };
  while (longest > 8 && bends(longest) > budget) {
    longest = Math.floor(longest * 0.7);
  }
  return longest;
}
