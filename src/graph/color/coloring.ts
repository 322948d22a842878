import type { IStageDiff } from '../diff/diff';
import { GHOST } from '../diff/ghosts';
import type { IIndexed } from '../indexed';
import type { IFusion } from '../kernels';
import { fusionTime } from '../kernels';
import { shortDtype } from '../labels';
import { OP_KINDS, opKind } from './kinds';

/**
 * The property that determines the color of boxes.
 */
export type ColorMode = 'kernel' | 'time' | 'dtype' | 'kind' | 'change';

export const COLOR_MODES: readonly ColorMode[] = [
  'kernel',
  'time',
  'dtype',
  'kind',
  'change'
];

/**
 * One entry of the legend, identified by its color, its bar's shape and its name; a
 * change also by a sign.
 */
export interface ISwatch {
  /**
   * Its meaning: a kernel's name, a dtype, a kind of operator.
   */
  readonly id: string;

  /**
   * A color of the palette; -1 for none.
   */
  readonly color: number;

  /**
   * 0: solid, 1: double, 2: dashed, 3: dotted.
   */
  readonly shape: number;

  /**
   * A symbol to draw on the box; empty for none.
   */
  readonly sign: string;

  /**
   * How many nodes have this entry.
   */
  readonly count: number;
}

/**
 * The colors of a graph's nodes.
 */
export interface IColoring {
  readonly mode: ColorMode;
  readonly swatches: readonly ISwatch[];

  /**
   * Node → its swatch; -1 for none.
   */
  readonly of: Int16Array;
}

const COLORS = 6;
const SHAPES = 4;

/**
 * The properties that boxes can be colored by.
 */
export interface IColorSource {
  readonly graph: IIndexed;
  readonly fusions: readonly IFusion[];
  readonly diff: IStageDiff | null;
}

/**
 * Color the nodes of a graph.
 */
export function colorNodes(mode: ColorMode, source: IColorSource): IColoring {
  const { graph, fusions, diff } = source;
  switch (mode) {
    case 'kernel':
      return byFusion(graph, fusions, ({ kernel }) => kernel.name);
    case 'time':
      return byTime(graph, fusions);
    case 'dtype':
      return byValue(
        mode,
        graph.nodes.map(n => n.dtype && shortDtype(n.dtype))
      );
    case 'kind': {
      const kinds = graph.nodes.map(opKind);
      const used = OP_KINDS.filter(kind => kinds.includes(kind));
      return byValue(mode, kinds, used, kind =>
        OP_KINDS.indexOf(kind as never)
      );
    }
    case 'change':
      return byChange(graph, diff);
  }
}

const CHANGES: readonly [string, number, number, string][] = [
  ['added', 2, 0, '+'],
  ['rewritten', 4, 1, '~'],
  ['renamed', 0, 3, '→'],
  ['removed', 1, 2, '−'],
  ['same', -1, 0, '']
];

function byChange(graph: IIndexed, diff: IStageDiff | null): IColoring {
  const of = new Int16Array(graph.nodes.length).fill(-1);
  const counts = CHANGES.map(() => 0);
  graph.nodes.forEach(({ name }, i) => {
    const kind = name.startsWith(GHOST)
      ? 'removed'
      : diff?.changes.get(name)?.kind;
    const at = CHANGES.findIndex(([id]) => id === kind);
    of[i] = at;
    if (at >= 0 && kind !== 'removed') {
      counts[at]++;
    }
  });
  counts[3] = diff?.counts.removed ?? 0;
  const swatches = CHANGES.map(([id, color, shape, sign], i) => ({
    id,
    color,
    shape,
    sign,
    count: counts[i]
  }));
  return { mode: 'change', swatches, of };
}

function byValue(
  mode: ColorMode,
  values: readonly (string | null)[],
  order?: readonly string[],
  place?: (value: string) => number
): IColoring {
  const counts = new Map<string, number>();
  for (const value of values) {
    if (value) {
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  const ids =
    order ??
    [...counts.keys()].sort(
      (a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1)
    );
  const swatches = ids.map((id, i) => ({
    id,
    ...colorAndShape(id === 'outside' ? -1 : (place?.(id) ?? i)),
    count: counts.get(id) ?? 0
  }));
  const at = new Map(ids.map((id, i) => [id, i]));
  const of = Int16Array.from(values, value => (value ? at.get(value)! : -1));
  return { mode, swatches, of };
}

function byFusion(
  graph: IIndexed,
  fusions: readonly IFusion[],
  idOf: (fusion: IFusion) => string
): IColoring {
  const ids = [...new Set(fusions.map(idOf))];
  const at = new Map(ids.map((id, i) => [id, i]));
  const of = new Int16Array(graph.nodes.length).fill(-1);
  const counts = ids.map(() => 0);
  for (const fusion of fusions) {
    const id = at.get(idOf(fusion))!;
    for (const node of fusion.nodes) {
      if (of[node] < 0) {
        of[node] = id;
        counts[id]++;
      }
    }
  }
  const swatches = ids.map((id, i) => ({
    id,
    ...colorAndShape(i),
    count: counts[i]
  }));
  return { mode: 'kernel', swatches, of };
}

/**
 * Launches in four classes by their measured time, each twice the one before.
 */
function byTime(graph: IIndexed, fusions: readonly IFusion[]): IColoring {
  const times = fusions.map(fusionTime);
  const most = Math.max(0, ...times.map(time => time ?? 0));
  const classes = [1, 0.5, 0.25, 0.125, 0];
  const of = new Int16Array(graph.nodes.length).fill(-1);
  const counts = classes.map(() => 0);
  fusions.forEach(({ drawn }, i) => {
    const time = times[i];
    if (time === null || most === 0) {
      return;
    }
    const above = classes.findIndex(c => time > c * most);
    const at = above < 0 ? 3 : Math.max(0, above - 1);
    for (const node of drawn) {
      of[node] = at;
      counts[at]++;
    }
  });
  const digits = (us: number) => Number(us.toPrecision(2)).toString();
  const swatches = classes.map((_, i) => ({
    id: `${digits(most * (classes[i + 1] ?? 0))}–${digits(most * classes[i])} µs`,
    color: i === 4 ? -1 : [1, 4, 5, 0][i],
    shape: 0,
    sign: '',
    count: counts[i]
  }));
  return { mode: 'time', swatches: swatches.slice(0, 4), of };
}

/**
 * The nth combination of a color and a shape; neighbors differ in both.
 */
function colorAndShape(n: number): {
  color: number;
  shape: number;
  sign: string;
} {
  return n < 0
    ? { color: -1, shape: 0, sign: '' }
    : {
        color: n % COLORS,
        shape: (Math.floor(n / COLORS) + n) % SHAPES,
        sign: ''
      };
}
