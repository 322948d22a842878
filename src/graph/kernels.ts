import type { Kernel, LaunchTime, Region } from '../protocol/types';
import { isOfAnotherGraph } from '../model/wrappers';
import type { IIndexed } from './indexed';

/**
 * The nodes that one launch of a kernel computes.
 */
export interface IFusion {
  readonly kernel: Kernel;

  /**
   * The key of its region in the wrappers; null where several launches of the
   * kernel could not be distinguished.
   */
  readonly key: string | null;
  readonly nodes: readonly number[];

  /**
   * Those of them that no earlier launch has: a node whose value several kernels
   * compute for themselves is drawn with the first.
   */
  readonly drawn: readonly number[];

  /**
   * Whether the nodes are assigned by how they are connected, not by what torch logged
   * for each launch.
   */
  readonly isGuess: boolean;
}

/**
 * Stage → the directions of the kernels that name its nodes. Kernels name nodes
 * after the post-grad passes; earlier stages have those of the nodes that the
 * passes left alone, under the same names.
 */
const DIRECTIONS: Record<string, readonly string[]> = {
  joint: ['forward', 'backward'],
  inference: ['inference'],
  before_joint: ['inference', 'forward'],
  after_joint: ['inference', 'forward'],
  forward: ['forward'],
  backward: ['backward'],
  post_grad: ['inference', 'forward'],
  before_post_grad: ['inference', 'forward'],
  backward_post_grad: ['backward'],
  backward_before_post_grad: ['backward']
};

/**
 * Whether kernels name nodes of a stage.
 */
export function hasKernelNames(stage: string): boolean {
  return stage in DIRECTIONS;
}

/**
 * Whether kernels are named after the nodes of just this stage.
 */
export function isLastStage(stage: string): boolean {
  return stage.endsWith('post_grad') && !stage.includes('before');
}

/**
 * Assign nodes to launches.
 *
 * @param regions - The regions of the wrapper's text, which name the nodes of
 *   each launch; empty if there are none.
 */
export function findFusions(
  graph: IIndexed,
  stage: string,
  kernels: readonly Kernel[],
  regions: readonly Region[]
): IFusion[] {
  const directions = DIRECTIONS[stage];
  const byKey = new Map(
    regions
      .filter(region => region.kind === 'launch')
      .map(region => [region.key, region])
  );
  const fusions: Omit<IFusion, 'drawn'>[] = [];
  for (const kernel of kernels) {
    const isElsewhere =
      (directions && !directions.includes(kernel.direction)) ||
      (kernel.launches.length > 0 && kernel.launches.every(isOfAnotherGraph));
    if (isElsewhere) {
      continue;
    }
    const numbers = (names: readonly string[]) =>
      [...new Set(names)].flatMap(name => graph.at.get(name) ?? []);
    const nodes = directions ? numbers(kernel.nodes) : [];
    const keys = [...new Set(kernel.launches.map(launch => launch.key))];
    if (keys.length <= 1) {
      if (nodes.length > 0) {
        fusions.push({ kernel, key: keys[0] ?? null, nodes, isGuess: false });
      }
      continue;
    }
    const left = new Set(nodes);
    for (const key of keys) {
      const ofKey = numbers(byKey.get(key)?.nodes ?? []).filter(n =>
        left.has(n)
      );
      if (ofKey.length > 0) {
        ofKey.forEach(node => left.delete(node));
        fusions.push({ kernel, key, nodes: ofKey, isGuess: false });
      }
    }
    for (const part of components(graph, [...left])) {
      fusions.push({ kernel, key: null, nodes: part, isGuess: true });
    }
  }
  const isTaken = new Set<number>();
  return fusions.map(fusion => {
    const nodes = withParts(graph, fusion.nodes);
    const drawn = nodes.filter(node => !isTaken.has(node));
    drawn.forEach(node => isTaken.add(node));
    return { ...fusion, nodes, drawn };
  });
}

/**
 * With the nodes that only pick a part of what one of them gives, and give it to
 * them: torch does not name those, since they compute nothing.
 */
function withParts(graph: IIndexed, nodes: readonly number[]): number[] {
  const picked = new Set(nodes);
  const parts = new Set<number>();
  for (const node of nodes) {
    for (const user of graph.users[node]) {
      const isPart =
        graph.nodes[user].target.endsWith('getitem') &&
        graph.users[user].length > 0 &&
        graph.users[user].every(reader => picked.has(reader));
      if (isPart && !picked.has(user)) {
        parts.add(user);
      }
    }
  }
  return [...nodes, ...parts];
}

/**
 * The connected components of a set of nodes.
 */
function components(graph: IIndexed, nodes: readonly number[]): number[][] {
  const left = new Set(nodes);
  const parts: number[][] = [];
  for (const first of nodes) {
    if (!left.delete(first)) {
      continue;
    }
    const part = [first];
    for (let at = 0; at < part.length; at++) {
      for (const near of [
        ...graph.inputs[part[at]],
        ...graph.users[part[at]]
      ]) {
        if (left.delete(near)) {
          part.push(near);
        }
      }
    }
    parts.push(part);
  }
  return parts;
}

/**
 * Kernels with a variant's own launches: a kernel lists those of the other
 * wrapper too, which another variant's measurement timed.
 */
export function withOwnLaunches(
  kernels: readonly Kernel[],
  variant: string
): Kernel[] {
  return kernels.map(kernel => ({
    ...kernel,
    launches: kernel.launches.filter(launch => launch.variant === variant)
  }));
}

/**
 * The measured times of a kernel's launches.
 */
export function launchTimes({ launches }: Kernel): LaunchTime[] {
  return launches.flatMap(({ time }) => time ?? []);
}

/**
 * How long the launch that nodes were fused into takes, in microseconds; null if it was
 * not measured. Launches that could not be distinguished share their mean.
 */
export function fusionTime({
  kernel,
  key
}: Pick<IFusion, 'kernel' | 'key'>): number | null {
  const measured = kernel.launches.find(
    launch => launch.key === key && launch.time
  );
  if (key !== null) {
    return measured?.time?.us ?? null;
  }
  const times = launchTimes(kernel);
  return times.length > 0
    ? times.reduce((sum, { us }) => sum + us, 0) / times.length
    : null;
}
