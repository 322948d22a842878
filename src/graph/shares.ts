import type { IColoring } from './color/coloring';
import type { IGrouping } from './grouping/types';

/**
 * How the nodes of each group share out among swatches: swatch and share, in
 * turn, in the legend's order. What has no swatch is left over.
 */
export function groupShares(
  grouping: IGrouping,
  coloring: IColoring
): (group: number) => readonly (readonly [number, number])[] {
  const { groups } = grouping;
  const counts = groups.map(() => new Map<number, number>());
  for (let k = groups.length - 1; k >= 0; k--) {
    const swatches = counts[k];
    for (const node of groups[k].nodes) {
      const swatch = coloring.of[node];
      swatches.set(swatch, (swatches.get(swatch) ?? 0) + 1);
    }
    for (const inner of groups[k].groups) {
      counts[inner].forEach((count, swatch) =>
        swatches.set(swatch, (swatches.get(swatch) ?? 0) + count)
      );
    }
  }
  const shares = counts.map((count, k) =>
    [...count]
      .filter(([swatch]) => swatch >= 0)
      .sort(([a], [b]) => a - b)
      .map(([swatch, n]) => [swatch, n / groups[k].size] as const)
  );
  return group => shares[group] ?? [];
}
