import type { Node } from '../protocol/types';
import { GHOST } from './diff/ghosts';
import type { IIndexed } from './indexed';
import { shapeText, shorten, shortTarget } from './labels';
import type { ILayoutGraph } from './layout/types';
import type { IGrouping } from './grouping/types';

/**
 * The text in the box of a node.
 */
export interface INodeText {
  readonly name: string;

  /**
   * The operator; empty for what does not compute.
   */
  readonly target: string;
  readonly shape: string;
}

/**
 * Sizes in pixels. Texts are set in a font whose letters are all as wide.
 */
export const BOX = {
  nodeHeight: 38,
  smallHeight: 24,
  groupHeight: 46,
  padding: 10,
  bar: 5,
  letter: 7.2,
  nameLength: 30,
  shapeLength: 22
};

/**
 * The texts in the boxes, for each node.
 */
export function nodeTexts(graph: IIndexed): INodeText[] {
  return graph.nodes.map(node => {
    const plain = node.name.replace(GHOST, '');
    const isPlain = node.op === 'placeholder' || node.op === 'get_attr';
    const target = isPlain || node.op === 'output' ? '' : shortTarget(node);
    return {
      name: shorten(parameterName(node) ?? plain, BOX.nameLength),
      target: shorten(target, BOX.nameLength),
      shape: shorten(shapeText(node), BOX.shapeLength)
    };
  });
}

/**
 * What a module calls its parameter: Dynamo's own names spell out the way to it,
 * which the groups say too.
 */
function parameterName(node: Node): string | null {
  if (node.op !== 'placeholder') {
    return null;
  }
  const match = /_(?:parameters|buffers)_(\w+?)_?$/.exec(node.name);
  return match && match[1];
}

/**
 * The second line of a closed group: `GPT2Block · 69 nodes`.
 */
export function groupText(type: string, size: string): string {
  return type ? `${shorten(type, 24)} · ${size}` : size;
}

/**
 * The layout's input for a graph.
 *
 * @param sizeText - Formats the number of nodes in a group.
 */
export function layoutInput(
  graph: IIndexed,
  grouping: IGrouping,
  texts: readonly INodeText[],
  sizeText: (size: number) => string
): ILayoutGraph {
  const sizes = new Float32Array(2 * graph.nodes.length);
  texts.forEach(({ name, target, shape }, i) => {
    const isSmall = !target;
    const letters = isSmall
      ? name.length + (shape ? shape.length * 0.85 + 2 : 0)
      : Math.max(name.length, 0.85 * (target.length + shape.length + 2));
    sizes[2 * i] = boxWidth(letters);
    sizes[2 * i + 1] = isSmall ? BOX.smallHeight : BOX.nodeHeight;
  });
  const { groups } = grouping;
  const groupSizes = new Float32Array(3 * groups.length);
  groups.forEach((group, k) => {
    const below = groupText(group.type, sizeText(group.size));
    const letters = Math.max(
      shorten(group.label, BOX.nameLength).length + 3,
      0.85 * below.length
    );
    const open =
      shorten(group.label, BOX.nameLength).length +
      0.85 * (group.type ? Math.min(24, group.type.length) + 1 : 0) +
      3;
    groupSizes.set(
      [boxWidth(letters) + 10, BOX.groupHeight, boxWidth(open)],
      3 * k
    );
  });
  let edges = 0;
  graph.users.forEach(users => (edges += users.length));
  const pairs = new Int32Array(2 * edges);
  // By producer; a consumer still gets them in the order of its arguments
  // where they have the same producer's group.
  let at = 0;
  graph.users.forEach((users, from) => {
    for (const to of users) {
      pairs[at++] = from;
      pairs[at++] = to;
    }
  });
  return {
    sizes,
    edges: pairs,
    groupOf: Int32Array.from(grouping.groupOf),
    parents: Int32Array.from(groups, group => group.parent),
    groupSizes,
    place: grouping.place,
    groupPlace: grouping.groupPlace,
    output: graph.nodes.findIndex(node => node.op === 'output')
  };
}

function boxWidth(letters: number): number {
  const width = letters * BOX.letter + 2 * BOX.padding + BOX.bar;
  return Math.max(64, 2 * Math.ceil(width / 2));
}
