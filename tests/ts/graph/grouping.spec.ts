import { splitModule } from '../../../src/graph/grouping/paths';
import { groupNodes } from '../../../src/graph/grouping/tree';
import type { IIndexed } from '../../../src/graph/indexed';
import { indexGraph } from '../../../src/graph/indexed';
import { initiallyOpenGroups } from '../../../src/graph/initiallyOpen';
import { roleOf } from '../../../src/graph/roles';
import { groupsAround, searchNodes } from '../../../src/graph/search';
import { realCompilation } from '../support/graphReports';
import { nodeOf } from '../support/structs';
import type { IGrouping } from '../../../src/graph/grouping/types';

/**
 * The places of what an edge goes between, in the group around both.
 */
function goesForward(
  { groupOf, groups, place, groupPlace }: IGrouping,
  from: number,
  to: number
): boolean {
  const chain = (node: number) => {
    const places: [number, number][] = [];
    let at = place[node];
    for (let group = groupOf[node]; group >= 0; group = groups[group].parent) {
      places.unshift([group, at]);
      at = groupPlace[group];
    }
    return places;
  };
  const [a, b] = [chain(from), chain(to)];
  let depth = 0;
  while (
    depth + 1 < Math.min(a.length, b.length) &&
    a[depth + 1][0] === b[depth + 1][0]
  ) {
    depth++;
  }
  return a[depth][1] < b[depth][1];
}

function backward(graph: IIndexed, grouping: IGrouping): string[] {
  return graph.users.flatMap((users, from) =>
    users
      .filter(to => !goesForward(grouping, from, to))
      .map(to => `${graph.nodes[from].name} → ${graph.nodes[to].name}`)
  );
}

describe('splitModule', () => {
  it('keeps a number with what it counts', () => {
    expect(splitModule('transformer.h.10.attn.c_attn')).toEqual([
      'transformer',
      'h.10',
      'attn',
      'c_attn'
    ]);
    expect(splitModule('blocks.0.1.conv')).toEqual(['blocks.0', '1', 'conv']);
  });
});

describe('groupNodes', () => {
  it.each(['mlp', 'training', 'breaks', 'recompiles'])(
    'makes groups that never depend on a later one: %s',
    name => {
      const { graphs } = realCompilation(name);
      for (const [stage, { nodes }] of Object.entries(graphs)) {
        const graph = indexGraph(nodes);
        for (const basis of ['module', 'function', 'none'] as const) {
          const grouping = groupNodes(graph, stage, basis);
          expect([stage, basis, backward(graph, grouping)]).toEqual([
            stage,
            basis,
            []
          ]);
          const held = grouping.groups.flatMap(group => group.nodes);
          expect(held.length).toBe(nodes.length);
          expect(new Set(held).size).toBe(nodes.length);
        }
      }
    }
  );

  it('groups a real MLP by its modules after all passes', () => {
    const { nodes } = realCompilation('mlp').graphs.post_grad;
    const graph = indexGraph(nodes);
    const { groups, groupOf } = groupNodes(graph, 'post_grad', 'module');
    const ids = groups.map(group => group.id);
    expect(ids).toContain('layers.0');
    expect(ids).toContain('layers.0/up');
    const up = groups[groupOf[graph.at.get('addmm')!]];
    expect([up.label, up.type]).toEqual(['up', 'Linear']);
  });

  it('parts a joint graph in forward and backward', () => {
    const { nodes } = realCompilation('training').graphs.joint;
    const graph = indexGraph(nodes);
    const { groups } = groupNodes(graph, 'joint', 'module');
    const top = groups[0].groups.map(
      group => groups[group].label.split('.')[0]
    );
    expect(top[0]).toBe('forward');
    expect(top).toContain('backward');
  });

  it('makes two groups of a module that is called twice', () => {
    const nodes = [
      nodeOf('x', { op: 'placeholder', target: 'L_x_' }),
      nodeOf('a', { inputs: ['x'], module: 'cell' }),
      nodeOf('b', { inputs: ['a'], module: 'cell' }),
      nodeOf('c', { inputs: ['b'] }),
      nodeOf('d', { inputs: ['c'], module: 'cell' }),
      nodeOf('e', { inputs: ['d'], module: 'cell' })
    ];
    const graph = indexGraph(nodes);
    const grouping = groupNodes(graph, 'dynamo', 'module');
    expect(grouping.groups.map(({ id, size }) => [id, size])).toEqual([
      ['', 6],
      ['cell', 2],
      ['cell#2', 2]
    ]);
    expect(backward(graph, grouping)).toEqual([]);
  });

  it('keeps a module together when a pass has moved its nodes apart', () => {
    const nodes = [
      nodeOf('x', { op: 'placeholder', target: 'L_x_' }),
      nodeOf('a1', { inputs: ['x'], module: 'a' }),
      nodeOf('b1', { inputs: ['x'], module: 'b' }),
      nodeOf('a2', { inputs: ['a1'], module: 'a' }),
      nodeOf('b2', { inputs: ['b1'], module: 'b' })
    ];
    const { groups } = groupNodes(indexGraph(nodes), 'dynamo', 'module');
    expect(groups.map(({ id }) => id)).toEqual(['', 'a', 'b']);
  });

  it('puts a sum of gradients, which names no module, with its neighbors', () => {
    const nodes = [
      nodeOf('tangents_1', { op: 'placeholder' }),
      nodeOf('a', { inputs: ['tangents_1'], module: 'h.1.mlp' }),
      nodeOf('sum', { inputs: ['a'], users: ['b'] }),
      nodeOf('b', { inputs: ['sum'], module: 'h.1.attn' }),
      nodeOf('c', { inputs: ['b'], module: 'h.0.mlp' })
    ];
    const grouping = groupNodes(indexGraph(nodes), 'backward', 'module');
    expect(grouping.inferred).toBe(1);
    expect(grouping.groups[grouping.groupOf[2]].label).toBe('h.1');
  });
});

describe('roleOf', () => {
  it('tells inputs, parameters and what was saved', () => {
    const { graphs } = realCompilation('training');
    const roles = (stage: string) =>
      Object.fromEntries(
        graphs[stage].nodes
          .filter(node => node.op === 'placeholder')
          .map(node => [node.name, roleOf(node, stage)])
      );
    expect(roles('dynamo')).toMatchObject({
      l_x_: 'input',
      g_net_modules_0_parameters_weight_: 'parameter'
    });
    expect(roles('backward_post_grad')).toMatchObject({
      tangents_1: 'input',
      relu: 'saved'
    });
  });
});

describe('initiallyOpenGroups', () => {
  it('opens all of a small graph, and few boxes of a large one', () => {
    const layer = (i: number) =>
      Array.from({ length: 50 }, (_, k) =>
        nodeOf(`n${i}_${k}`, {
          inputs: [k > 0 ? `n${i}_${k - 1}` : i > 0 ? `n${i - 1}_49` : 'x'],
          module: `model.h.${i}.mlp`
        })
      );
    const nodes = [
      nodeOf('x', { op: 'placeholder', target: 'L_x_' }),
      ...Array.from({ length: 20 }, (_, i) => layer(i)).flat()
    ];
    const large = groupNodes(indexGraph(nodes), 'dynamo', 'module');
    expect([...initiallyOpenGroups(large)].some(id => id.includes('mlp'))).toBe(
      false
    );
    const small = groupNodes(
      indexGraph(nodes.slice(0, 21)),
      'dynamo',
      'module'
    );
    expect(initiallyOpenGroups(small).size).toBe(small.groups.length - 1);
  });
});

describe('searchNodes', () => {
  const { nodes } = realCompilation('mlp').graphs.post_grad;
  const graph = indexGraph(nodes);
  const grouping = groupNodes(graph, 'post_grad', 'module');
  const names = (query: string) =>
    searchNodes(graph, grouping, query).map(i => nodes[i].name);

  it('finds by name, operator, module and shape', () => {
    expect(names('erf')).toEqual(['erf']);
    expect(names('aten.addmm')).toEqual(['addmm', 'addmm_1', 'addmm_2']);
    expect(names('addmm layers.0.up')).toEqual(['addmm']);
    expect(names('addmm 16x128')).toEqual(['addmm']);
    expect(names('addmm 16×128')).toEqual(['addmm']);
    expect(names('no such thing')).toEqual([]);
    expect(names('')).toEqual([]);
  });

  it('says which groups hide a hit', () => {
    const hit = graph.at.get('addmm')!;
    const ids = groupsAround(grouping, hit).map(k => grouping.groups[k].id);
    expect(ids).toEqual(['layers.0', 'layers.0/up']);
  });
});
