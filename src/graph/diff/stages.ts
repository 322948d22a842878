import { STAGES } from '../../protocol/types';

/**
 * Stage → the stages that it can come from, the nearest first.
 */
const SOURCES: Record<string, readonly string[]> = {
  before_pre_grad: ['dynamo'],
  pre_grad: ['before_pre_grad', 'dynamo'],
  joint: ['pre_grad', 'before_pre_grad', 'dynamo'],
  inference: ['pre_grad', 'before_pre_grad', 'dynamo'],
  before_joint: ['joint', 'inference', 'pre_grad', 'dynamo'],
  after_joint: ['before_joint', 'joint', 'inference'],
  forward: ['after_joint', 'joint'],
  backward: ['after_joint', 'joint'],
  before_post_grad: ['forward', 'after_joint', 'inference', 'dynamo'],
  post_grad: ['before_post_grad', 'forward', 'after_joint', 'inference'],
  backward_before_post_grad: ['backward', 'after_joint', 'joint'],
  backward_post_grad: ['backward_before_post_grad', 'backward', 'joint']
};

const ORDER = Object.keys(STAGES);

/**
 * The stages of a compilation, in the order in which torch makes them. The
 * inference graph is traced before the joint passes run on it.
 */
export function inOrder(stages: readonly string[]): string[] {
  const rank = (stage: string) =>
    stage === 'inference' ? ORDER.indexOf('joint') : ORDER.indexOf(stage);
  return [...stages].sort((a, b) => rank(a) - rank(b));
}

/**
 * The stage that a stage was made from; null for the first.
 */
export function stageBefore(
  stage: string,
  stages: readonly string[]
): string | null {
  return SOURCES[stage]?.find(source => stages.includes(source)) ?? null;
}

/**
 * The stage that a stage is compared with: the one shown beside it, if it comes
 * from that one, or else the one that it was made from.
 *
 * @param beside - The stage that is shown beside it; null if none is.
 * @returns Null for the first.
 */
export function comparedWith(
  stage: string,
  beside: string | null,
  stages: readonly string[]
): string | null {
  return beside !== null && stages.includes(beside) && comesFrom(stage, beside)
    ? beside
    : stageBefore(stage, stages);
}

/**
 * Whether a stage is made from another, with others in between or not.
 */
function comesFrom(stage: string, earlier: string): boolean {
  const sources = SOURCES[stage] ?? [];
  // A stage comes only from stages that are made before it: no circles.
  return (
    sources.includes(earlier) ||
    sources.some(source => comesFrom(source, earlier))
  );
}

/**
 * The other half of what a stage was made from: forward and backward are parts of
 * one joint graph. Null if it is the whole.
 */
export function otherHalf(
  stage: string,
  before: string,
  stages: readonly string[]
): string | null {
  const isJoint = ['joint', 'before_joint', 'after_joint'].includes(before);
  const isBackward = stage.startsWith('backward');
  const isHalf =
    isBackward || ['forward', 'before_post_grad', 'post_grad'].includes(stage);
  const other = isBackward ? 'forward' : 'backward';
  return isJoint && isHalf && stages.includes(other) ? other : null;
}
