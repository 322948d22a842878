import type { GraphTiers } from '../protocol/types';

/**
 * The graphs with the latest news of one of them, in the order in which they
 * were compiled.
 */
export function withGraph(
  graphs: readonly GraphTiers[],
  changed: GraphTiers
): readonly GraphTiers[] {
  return [
    ...graphs.filter(({ number }) => number !== changed.number),
    changed
  ].sort((a, b) => a.number - b.number);
}
