import { colorNodes } from '../../../src/graph/color/coloring';
import { findFusions } from '../../../src/graph/kernels';
import { CompoundLayout } from '../../../src/graph/layout/compound';
import type { ILayout } from '../../../src/graph/layout/types';
import { paint } from '../../../src/graph/paint/painter';
import { Scene } from '../../../src/graph/paint/scene';
import { SvgPen } from '../../../src/graph/paint/svgPen';
import type { ITheme } from '../../../src/graph/paint/theme';
import { channels, colorMixer } from '../../../src/graph/paint/theme';
import type { IPrepared } from '../../../src/graph/prepare';
import { prepareStage } from '../../../src/graph/prepare';
import { groupShares } from '../../../src/graph/shares';
import { layoutInput, nodeTexts } from '../../../src/graph/sizes';
import { walk } from '../../../src/graph/walk';
import { runInSlices } from '../../../src/graph/worker/slices';
import type { Graph } from '../../../src/protocol/types';
import { realCompilation } from '../support/graphReports';
import { graphOf, kernelOf, nodeOf } from '../support/structs';

const sizeText = (size: number) => `${size} nodes`;

function prepare(graph: Graph): IPrepared {
  return prepareStage(
    { graph, before: null, other: null, kernels: [], regions: [] },
    null,
    false
  );
}

function finish<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) {
      return step.value;
    }
  }
}

function lay(prepared: IPrepared, isOpen: (id: string) => boolean): Scene {
  const { graph, grouping } = prepared;
  const texts = nodeTexts(graph);
  const input = layoutInput(graph, grouping, texts, sizeText);
  const open = grouping.groups.map((group, i) =>
    i === 0 || isOpen(group.id) ? 1 : 0
  );
  const layout = finish(new CompoundLayout(input).run(open));
  return new Scene(graph, grouping, texts, layout);
}

/**
 * Pairs of boxes that overlap without one being in the other.
 */
function overlaps(scene: Scene): string[] {
  const items = [...scene.layout.items];
  const crossings: string[] = [];
  items.forEach((a, i) => {
    for (const b of items.slice(i + 1)) {
      if (scene.isWithin(a, b) || scene.isWithin(b, a)) {
        continue;
      }
      const [p, q] = [scene.box(a)!, scene.box(b)!];
      if (
        p.x + p.width > q.x + 0.01 &&
        q.x + q.width > p.x + 0.01 &&
        p.y + p.height > q.y + 0.01 &&
        q.y + q.height > p.y + 0.01
      ) {
        crossings.push(`${a} ${b}`);
      }
    }
  });
  return crossings;
}

function upward({ points, starts, from }: ILayout): number {
  let count = 0;
  from.forEach((_, edge) => {
    if (points[starts[edge] + 1] > points[starts[edge + 1] - 1]) {
      count++;
    }
  });
  return count;
}

/**
 * A model of layers with a residual and a mask, larger than the real reports.
 */
function layers(count: number): Graph {
  const nodes = [nodeOf('x', { op: 'placeholder', target: 'L_x_' })];
  const add = (name: string, inputs: string[], module: string) => {
    nodes.push(nodeOf(name, { inputs, module, shape: ['8', '8'] }));
    return name;
  };
  const mask = add('mask', ['x'], 'model');
  let last = add('embed', ['x'], 'model');
  for (let i = 0; i < count; i++) {
    const at = `model.h.${i}`;
    const q = add(`q${i}`, [last], `${at}.attn.q`);
    const q2 = add(`r${i}`, [q], `${at}.attn.q`);
    const k = add(`k${i}`, [last], `${at}.attn`);
    const mm = add(`mm${i}`, [q2, k, mask], `${at}.attn`);
    last = add(`add${i}`, [mm, last], at);
  }
  nodes.push(nodeOf('output', { op: 'output', inputs: [last] }));
  return graphOf('dynamo', nodes);
}

describe('CompoundLayout', () => {
  it.each(['mlp', 'training', 'breaks', 'recompiles'])(
    'lays out real graphs without overlaps, downwards: %s',
    name => {
      for (const graph of Object.values(realCompilation(name).graphs)) {
        const prepared = prepare(graph);
        const scene = lay(prepared, () => true);
        expect(scene.layout.items.length).toBe(
          graph.nodes.length + prepared.grouping.groups.length - 1
        );
        expect(overlaps(scene)).toEqual([]);
        expect(upward(scene.layout)).toBe(0);
        expect(scene.layout.points.every(Number.isFinite)).toBe(true);
      }
    }
  );

  it('keeps everything in its group, open or closed', () => {
    const prepared = prepare(layers(6));
    for (const isOpen of [
      () => false,
      (id: string) => !id.includes('/'),
      (id: string) => !id.includes('attn'),
      () => true
    ]) {
      const scene = lay(prepared, isOpen);
      expect(overlaps(scene)).toEqual([]);
      for (const item of scene.layout.items) {
        const outer = scene.box(scene.parent(item));
        const box = scene.box(item)!;
        if (outer) {
          expect(box.x).toBeGreaterThanOrEqual(outer.x);
          expect(box.y).toBeGreaterThanOrEqual(outer.y);
          expect(box.x + box.width).toBeLessThanOrEqual(outer.x + outer.width);
          expect(box.y + box.height).toBeLessThanOrEqual(
            outer.y + outer.height
          );
        }
      }
    }
  });

  it('draws one edge for several values between closed groups', () => {
    const graph = graphOf('dynamo', [
      nodeOf('x', { op: 'placeholder', target: 'L_x_' }),
      nodeOf('a1', { inputs: ['x'], module: 'a' }),
      nodeOf('a2', { inputs: ['x'], module: 'a' }),
      nodeOf('b1', { inputs: ['a1', 'a2'], module: 'b' }),
      nodeOf('b2', { inputs: ['b1', 'a1'], module: 'b' })
    ]);
    const { layout } = lay(prepare(graph), () => false);
    expect(Array.from(layout.counts).sort()).toEqual([1, 2]);
  });

  it('finds the way of a value through the borders of groups', () => {
    const prepared = prepare(layers(2));
    const { at } = prepared.graph;
    const scene = lay(prepared, () => true);
    const edges = scene.edgesBetween(at.get('mask')!, at.get('mm1')!);
    // In model, in h.1, and in attn.
    expect(edges.length).toBe(3);
    const closed = lay(prepared, id => id === 'model');
    expect(closed.edgesBetween(at.get('mask')!, at.get('mm1')!).length).toBe(1);
  });

  it('lays out again only what changed', () => {
    const prepared = prepare(layers(40));
    const { graph, grouping } = prepared;
    const input = layoutInput(graph, grouping, nodeTexts(graph), sizeText);
    const compound = new CompoundLayout(input);
    const steps = (open: number[]) => {
      let count = 0;
      const run = compound.run(open);
      while (!run.next().done) {
        count++;
      }
      return count;
    };
    const all = grouping.groups.map(() => 1);
    const first = steps(all);
    const inner = grouping.groups.findIndex(g => g.id.endsWith('h.7/attn/q'));
    expect(inner).toBeGreaterThan(0);
    const again = steps(all.map((is, i) => (i === inner ? 0 : is)));
    expect(again).toBeLessThan(first / 5);
  });

  it('leaves out edges that are too long when there are very many', () => {
    const nodes = Array.from({ length: 1200 }, (_, i) =>
      nodeOf(`n${i}`, {
        inputs: i > 0 ? [`n${i - 1}`, ...(i > 600 ? [`n${1200 - i}`] : [])] : []
      })
    );
    const { layout } = lay(prepare(graphOf('joint', nodes)), () => true);
    expect(layout.far.length).toBeGreaterThan(0);
    expect(layout.from.length).toBeGreaterThanOrEqual(1199);
  });
});

describe('runInSlices', () => {
  it('stops when it is told to', async () => {
    function* endless(): Generator<void, number, void> {
      for (;;) {
        yield;
      }
    }
    let isCancelled = false;
    const run = runInSlices(endless(), () => isCancelled, 1);
    setTimeout(() => (isCancelled = true), 5);
    await expect(run).resolves.toBeNull();
  });
});

describe('walk', () => {
  it('follows edges, enters open groups, and stays where there is nothing', () => {
    const prepared = prepare(layers(2));
    const scene = lay(prepared, id => id !== 'model/h.1');
    const { at } = prepared.graph;
    const item = (name: string) => at.get(name)!;
    expect(walk(scene, item('mm0'), 'inputs')).not.toBeNull();
    expect(walk(scene, item('q0'), 'users')).toBe(item('r0'));
    expect(walk(scene, item('r0'), 'inputs')).toBe(item('q0'));
    expect(walk(scene, item('x'), 'inputs')).toBeNull();
    const group = (id: string) =>
      scene.nodeCount + prepared.grouping.groups.findIndex(g => g.id === id);
    // What is in a closed group is the group.
    expect(walk(scene, item('add0'), 'users')).toBe(group('model/h.1'));
    const first = walk(scene, group('model'), 'users')!;
    expect(scene.parent(first)).toBe(group('model'));
  });
});

const THEME: ITheme = {
  background: '#fff',
  fills: ['#eee', '#fff'],
  box: '#fff',
  border: '#ccc',
  text: '#000',
  muted: '#555',
  edge: '#999',
  brand: '#00f',
  hit: '#f80',
  colors: ['#111', '#222', '#333', '#444', '#555', '#666'],
  font: 'sans-serif',
  mono: '"Mono" monospace',
  mix: colorMixer()
};

describe('SvgPen', () => {
  it('writes what is laid out as texts, and nothing as markup', () => {
    const graph = graphOf('dynamo', [
      nodeOf('x', { op: 'placeholder', target: 'L_x_' }),
      nodeOf('<script>alert(1)</script>', {
        inputs: ['x'],
        target: 'a.b&"c',
        shape: ['2']
      })
    ]);
    const prepared = prepare(graph);
    const scene = lay(prepared, () => true);
    const coloring = colorNodes('kind', prepared);
    const pen = new SvgPen();
    paint(
      pen,
      {
        scene,
        coloring,
        fusions: [],
        theme: THEME,
        sizeText,
        shares: groupShares(prepared.grouping, coloring)
      },
      { x: 0, y: 0, width: 1000, height: 1000 },
      1
    );
    const text = pen.file({
      x: 0,
      y: 0,
      width: 100,
      height: 100,
      title: 'a<b',
      background: '#fff'
    });
    const page = new DOMParser().parseFromString(text, 'image/svg+xml');
    expect(page.querySelector('parsererror')).toBeNull();
    expect(page.querySelector('script')).toBeNull();
    const texts = [...page.querySelectorAll('text')].map(t => t.textContent);
    expect(texts).toContain('<script>alert(1)</script>');
    expect(texts).toContain('x');
  });
});

describe('paint', () => {
  it('has the kernels’ names on the edges that pass them', () => {
    const graph = graphOf('post_grad', [
      nodeOf('x', { op: 'placeholder', target: 'L_x_' }),
      nodeOf('add', { inputs: ['x'], target: 'aten.add' })
    ]);
    const prepared = prepare(graph);
    const coloring = colorNodes('kind', prepared);
    const painted: { what: string; halo?: string }[] = [];
    paint(
      {
        rect: () => undefined,
        curves: () => painted.push({ what: 'edges' }),
        heads: () => undefined,
        text: (what, _x, _y, { halo }) => painted.push({ what, halo })
      },
      {
        scene: lay(prepared, () => true),
        coloring,
        fusions: findFusions(
          prepared.graph,
          'post_grad',
          [kernelOf('fused_add', { nodes: ['add'] })],
          []
        ),
        theme: THEME,
        sizeText,
        shares: groupShares(prepared.grouping, coloring)
      },
      { x: 0, y: 0, width: 1000, height: 1000 },
      1
    );
    const whats = painted.map(({ what }) => what);
    expect(whats.lastIndexOf('edges')).toBeLessThan(whats.indexOf('fused_add'));
    expect(painted[whats.indexOf('fused_add')].halo).toBe(THEME.background);
  });
});

describe('colorMixer', () => {
  it('reads the colors of themes', () => {
    expect(channels('#1976d2')).toEqual([25, 118, 210]);
    expect(channels('#fff')).toEqual([255, 255, 255]);
    expect(channels('rgba(0, 0, 0, 0.87)')).toEqual([0, 0, 0]);
    expect(channels('var(--x)')).toBeNull();
    expect(colorMixer()('#ffffff', '#000000', 0.5)).toBe('rgb(128, 128, 128)');
  });
});
