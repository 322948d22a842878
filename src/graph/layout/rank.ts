import type { ILevel, ILevelEdge } from './types';

/**
 * Assign ranks: every edge goes down at least one.
 *
 * Ranks are as the longest paths from above make them; then boxes are pulled
 * down to those that use them, where that shortens edges: so a parameter stands
 * right above its first use. Ports keep to the first and the last rank.
 */
export function assignRanks(
  level: ILevel,
  edges: readonly ILevelEdge[]
): Int32Array {
  const count = level.widths.length;
  const inputs: ILevelEdge[][] = Array.from({ length: count }, () => []);
  const outputs: ILevelEdge[][] = Array.from({ length: count }, () => []);
  for (const edge of edges) {
    outputs[edge.from].push(edge);
    inputs[edge.to].push(edge);
  }
  const order = Array.from({ length: count }, (_, i) => i).sort(
    (a, b) => level.places[a] - level.places[b] || a - b
  );
  const ranks = new Int32Array(count);
  const hasPorts = level.kinds.includes(1);
  for (const i of order) {
    let rank = level.kinds[i] !== 1 && hasPorts ? 1 : 0;
    for (const edge of inputs[i]) {
      rank = Math.max(rank, ranks[edge.from] + 1);
    }
    ranks[i] = rank;
  }
  let last = 0;
  ranks.forEach((rank, i) => {
    if (level.kinds[i] !== 2) {
      last = Math.max(last, rank);
    }
  });
  const lowest = level.kinds.includes(2) ? last + 1 : last;

  // What hangs on nothing is free to go down, and what only hangs on that.
  const isFree = new Uint8Array(count);
  for (const i of order) {
    isFree[i] = Number(
      level.kinds[i] === 0 && inputs[i].every(edge => isFree[edge.from])
    );
  }
  for (let pass = 0; pass < 3; pass++) {
    for (let at = count - 1; at >= 0; at--) {
      const i = order[at];
      if (level.kinds[i] !== 0 || outputs[i].length === 0) {
        continue;
      }
      let most = Infinity;
      let pull = 0;
      for (const edge of outputs[i]) {
        const isPort = level.kinds[edge.to] === 2;
        most = Math.min(most, isPort ? lowest - 1 : ranks[edge.to] - 1);
        pull += isPort ? 0 : edge.weight;
      }
      for (const edge of inputs[i]) {
        pull -= level.kinds[edge.from] === 1 ? 0 : edge.weight;
      }
      if (most > ranks[i] && (pull > 0 || isFree[i])) {
        ranks[i] = most;
      }
    }
  }
  const latest = order[count - 1];
  for (let i = 0; i < count; i++) {
    const isLoose = inputs[i].length + outputs[i].length === 0;
    if (level.kinds[i] === 2) {
      ranks[i] = lowest;
    } else if (i === latest && isLoose && count > 1) {
      // A graph's output is last even if it has no edges.
      ranks[i] = last + 1;
    }
  }
  return compact(ranks);
}

/**
 * Number the ranks that are in use from 0.
 */
function compact(ranks: Int32Array): Int32Array {
  const used = [...new Set(ranks)].sort((a, b) => a - b);
  const to = new Map(used.map((rank, i) => [rank, i]));
  return ranks.map(rank => to.get(rank)!);
}
