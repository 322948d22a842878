import type { Node } from '../protocol/types';

/**
 * What a value that comes from outside the graph is.
 *
 * - `input`: an argument of the call, a size, or a gradient that comes in.
 * - `parameter`: a parameter, a buffer, a constant of a module.
 * - `saved`: what the forward kept for the backward.
 * - `unknown`: torch does not say.
 */
export type Role = 'input' | 'parameter' | 'saved' | 'unknown';

const OF_MODULE = /_(parameters|buffers|modules)_|^(p|b)_/;
const GRADIENT = /^tangents_\d+$/;
const SIZE = /^(s|u)\d+$/;

/**
 * The role of a node; null for one that computes.
 *
 * @param stage - The graph's stage: what a backward takes was mostly kept for it.
 */
export function roleOf(node: Node, stage: string): Role | null {
  if (node.op === 'get_attr') {
    return 'parameter';
  }
  if (node.op !== 'placeholder') {
    return null;
  }
  if (GRADIENT.test(node.name)) {
    return 'input';
  }
  if ([node.target, node.name, ...node.origins].some(n => OF_MODULE.test(n))) {
    return 'parameter';
  }
  if (stage.startsWith('backward')) {
    return 'saved';
  }
  if (
    node.origins.length > 0 ||
    /^L_/i.test(node.target) ||
    SIZE.test(node.name)
  ) {
    return 'input';
  }
  return 'unknown';
}
