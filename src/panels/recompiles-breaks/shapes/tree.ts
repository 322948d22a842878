import type { ShapeExpression } from '../../../protocol/types';

/**
 * An expression in a tree that is drawn as a list.
 */
export interface IBranch {
  readonly expression: ShapeExpression;

  /**
   * 0 for the root.
   */
  readonly depth: number;
}

/**
 * An expression and everything from which it was computed, without duplicates,
 * starting at the root.
 */
export function treeOf(
  root: number,
  expressions: readonly ShapeExpression[]
): readonly IBranch[] {
  const tree: IBranch[] = [];
  const seen = new Set<number>();
  const open = [{ place: root, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { place, depth } = next;
    if (seen.has(place)) {
      continue;
    }
    seen.add(place);
    const expression = expressions[place];
    tree.push({ expression, depth });
    for (const operand of [...expression.operands].reverse()) {
      open.push({ place: operand, depth: depth + 1 });
    }
  }
  return tree;
}
