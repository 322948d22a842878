import type { IChains } from './chains';
import { buildChains } from './chains';
import { assignX } from './coordinates';
import { orderRanks } from './crossings';
import { assignRanks } from './rank';
import { ILevel, ILevelEdge, SPACING } from './types';

/**
 * The layout of a level.
 */
export interface IPlacedLevel {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly width: number;
  readonly height: number;

  /**
   * Edge → its points; null for one that is too long to draw.
   */
  readonly routes: (number[] | null)[];
}

/**
 * Lay out one level: ranks, order in the ranks, places, routes.
 *
 * Yields between its steps, so that it can be stopped.
 */
export function* layoutLevel(
  level: ILevel
): Generator<void, IPlacedLevel, void> {
  const count = level.widths.length;
  const turned = level.edges.map(
    ({ from, to }) => level.places[from] > level.places[to]
  );
  const edges = level.edges.map((edge, i) =>
    turned[i]
      ? {
          from: edge.to,
          to: edge.from,
          fromX: edge.toX,
          toX: edge.fromX,
          weight: edge.weight,
          isLoose: false
        }
      : edge
  );
  const ranks = assignRanks(level, edges);
  yield;
  const chains = buildChains(count, edges, ranks, level.widths);
  const order = yield* orderRanks(chains, level.places);
  yield;
  const centers = yield* assignX(chains, order);
  yield;

  // The height of every rank, and the room below it for slanting edges.
  const rankCount = order.length;
  const tall = new Float64Array(rankCount);
  for (let i = 0; i < count; i++) {
    tall[ranks[i]] = Math.max(tall[ranks[i]], level.heights[i]);
  }
  const slant = new Float64Array(rankCount);
  for (const segment of chains.segments) {
    const dx = Math.abs(
      centers[segment.a] + segment.aX - centers[segment.b] - segment.bX
    );
    const rank = chains.ranks[segment.a];
    slant[rank] = Math.max(slant[rank], dx);
  }
  const top = new Float64Array(rankCount);
  let height = 0;
  for (let rank = 0; rank < rankCount; rank++) {
    top[rank] = height;
    const gap = SPACING.rank + Math.min(56, 0.1 * slant[rank]);
    height += tall[rank] + (rank + 1 < rankCount ? gap : 0);
  }

  let left = Infinity;
  let right = -Infinity;
  for (let i = 0; i < chains.widths.length; i++) {
    left = Math.min(left, centers[i] - chains.widths[i] / 2);
    right = Math.max(right, centers[i] + chains.widths[i] / 2);
  }
  if (chains.widths.length === 0) {
    left = right = 0;
  }
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    x[i] = centers[i] - level.widths[i] / 2 - left;
    y[i] = level.kinds[i] === 2 ? height : top[ranks[i]];
  }

  const ends = uncrossed(edges, chains, centers);
  const routes = edges.map((edge, i) => {
    const via = chains.routes[i];
    if (!via) {
      return null;
    }
    const points: number[] = [];
    const startX = x[edge.from] + edge.fromX;
    const bottom = y[edge.from] + level.heights[edge.from];
    points.push(startX, bottom);
    const band = top[ranks[edge.from]] + tall[ranks[edge.from]];
    if (band > bottom) {
      points.push(startX, band);
    }
    for (const dummy of via) {
      const rank = chains.ranks[dummy];
      points.push(centers[dummy] - left, top[rank]);
      points.push(centers[dummy] - left, top[rank] + tall[rank]);
    }
    points.push(x[edge.to] + ends[i], y[edge.to]);
    return turned[i] ? reversed(points) : points;
  });
  return { x, y, width: right - left, height, routes };
}

/**
 * Where edges are tied to their targets: in the order in which they come in.
 */
function uncrossed(
  edges: readonly ILevelEdge[],
  chains: IChains,
  centers: Float64Array
): number[] {
  const ends = edges.map(edge => edge.toX);
  const byTarget = new Map<number, number[]>();
  edges.forEach(({ to, isLoose }, i) => {
    if (isLoose && chains.routes[i]) {
      byTarget.set(to, [...(byTarget.get(to) ?? []), i]);
    }
  });
  byTarget.forEach(into => {
    const from = (i: number) => {
      const via = chains.routes[i]!;
      const { from: source, fromX } = edges[i];
      return via.length > 0
        ? centers[via[via.length - 1]]
        : centers[source] - chains.widths[source] / 2 + fromX;
    };
    const places = into.map(i => ends[i]).sort((a, b) => a - b);
    into.sort((a, b) => from(a) - from(b));
    into.forEach((i, at) => (ends[i] = places[at]));
  });
  return ends;
}

function reversed(points: readonly number[]): number[] {
  const result: number[] = [];
  for (let i = points.length - 2; i >= 0; i -= 2) {
    result.push(points[i], points[i + 1]);
  }
  return result;
}
