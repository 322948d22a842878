import { colorNodes } from '../../../src/graph/color/coloring';
import { opKind } from '../../../src/graph/color/kinds';
import { diffStages } from '../../../src/graph/diff/diff';
import { GHOST, withGhosts } from '../../../src/graph/diff/ghosts';
import {
  comparedWith,
  inOrder,
  otherHalf,
  stageBefore
} from '../../../src/graph/diff/stages';
import { indexGraph } from '../../../src/graph/indexed';
import {
  findFusions,
  fusionTime,
  launchTimes,
  withOwnLaunches
} from '../../../src/graph/kernels';
import { STAGES } from '../../../src/protocol/types';
import { realCompilation } from '../support/graphReports';
import type { ISubjectModel } from '../../../src/interfaces/subject';
import { loadStage } from '../../../src/panels/graph/hooks';
import { artifact, artifactResult, variant } from '../support/code';
import { report } from '../support/fakes';
import {
  compilationSummary,
  graphOf,
  kernelOf,
  launchOf,
  launchTime,
  nodeOf
} from '../support/structs';

describe('comparedWith', () => {
  const stages = ['dynamo', 'joint', 'forward', 'backward', 'post_grad'];

  it('is the stage shown beside, where that is an earlier one', () => {
    expect(comparedWith('post_grad', 'dynamo', stages)).toBe('dynamo');
    expect(comparedWith('post_grad', 'joint', stages)).toBe('joint');
    expect(otherHalf('post_grad', 'joint', stages)).toBe('backward');
  });

  it('is the stage before, where nothing comes from what is beside', () => {
    expect(comparedWith('post_grad', null, stages)).toBe('forward');
    expect(comparedWith('post_grad', 'backward', stages)).toBe('forward');
    expect(comparedWith('forward', 'post_grad', stages)).toBe('joint');
    expect(comparedWith('post_grad', 'post_grad', stages)).toBe('forward');
    expect(comparedWith('dynamo', 'post_grad', stages)).toBeNull();
  });
});

describe('stageBefore', () => {
  it('knows where every stage but the first comes from', () => {
    const { dynamo, ...later } = STAGES;
    expect(dynamo).toBeDefined();
    for (const stage of Object.keys(later)) {
      expect([stage, stageBefore(stage, Object.keys(STAGES))]).not.toEqual([
        stage,
        null
      ]);
    }
  });

  it('skips stages that are not there', () => {
    const stages = inOrder(Object.keys(realCompilation('mlp').graphs));
    expect(stages.indexOf('inference')).toBeLessThan(
      stages.indexOf('before_joint')
    );
    expect(stageBefore('post_grad', ['dynamo', 'inference', 'post_grad'])).toBe(
      'inference'
    );
    expect(stageBefore('dynamo', stages)).toBeNull();
    expect(otherHalf('forward', 'joint', ['joint', 'backward'])).toBe(
      'backward'
    );
    expect(otherHalf('post_grad', 'before_post_grad', stages)).toBeNull();
  });
});

describe('diffStages', () => {
  it('finds nothing between a stage and itself', () => {
    for (const name of ['mlp', 'training', 'breaks', 'recompiles']) {
      const { graphs } = realCompilation(name);
      for (const graph of Object.values(graphs)) {
        const { counts } = diffStages(graph, graph);
        expect(counts).toEqual({
          same: graph.nodes.length,
          renamed: 0,
          rewritten: 0,
          added: 0,
          removed: 0
        });
      }
    }
  });

  it('does not take another way to write the same for a change', () => {
    const { graphs } = realCompilation('training');
    const { counts } = diffStages(graphs.dynamo, graphs.before_pre_grad);
    expect(counts.same).toBe(graphs.dynamo.nodes.length);
  });

  it('sees a joint graph split in two halves', () => {
    const { graphs } = realCompilation('training');
    const { counts, elsewhere, removed } = diffStages(
      graphs.joint,
      graphs.forward,
      graphs.backward
    );
    expect(elsewhere).toBeGreaterThan(5);
    // What neither half needs is gone; what one keeps is not.
    const nodes = [...graphs.forward.nodes, ...graphs.backward.nodes];
    const names = new Set(nodes.map(node => node.name));
    expect(removed.length).toBeGreaterThan(0);
    expect(removed.filter(({ node }) => names.has(node.name))).toEqual([]);
    expect(counts.same + counts.rewritten + counts.renamed).toBe(
      graphs.forward.nodes.length
    );
  });

  it('follows a decomposition by origins where torch renames', () => {
    const before = graphOf('dynamo', [
      nodeOf('l_x_', { op: 'placeholder' }),
      nodeOf('linear', { inputs: ['l_x_'], target: 'linear' }),
      nodeOf('unused', { inputs: ['linear'], target: 'sin' }),
      nodeOf('output', { op: 'output', inputs: ['linear'] })
    ]);
    const after = graphOf('inference', [
      nodeOf('arg0_1', { op: 'placeholder', origins: ['l_x_'] }),
      nodeOf('permute', { inputs: ['arg0_1'], origins: ['linear'] }),
      nodeOf('addmm', { inputs: ['permute'], origins: ['linear'] }),
      nodeOf('copy_', { inputs: ['addmm'] }),
      nodeOf('output', { op: 'output', inputs: ['copy_'] })
    ]);
    const diff = diffStages(before, after);
    const kinds = Object.fromEntries(
      [...diff.changes].map(([name, { kind }]) => [name, kind])
    );
    expect(kinds).toEqual({
      arg0_1: 'renamed',
      permute: 'rewritten',
      addmm: 'rewritten',
      copy_: 'added',
      output: 'same'
    });
    expect(diff.changes.get('addmm')!.from).toEqual(['linear']);
    expect(diff.isByOrigin).toBe(true);
    expect(diff.removed.map(({ node }) => node.name)).toEqual(['unused']);
    expect(diff.removed[0].inputs).toEqual(['permute', 'addmm']);
  });

  it('says what was rewritten, with renamed inputs taken for the same', () => {
    const before = graphOf('a', [
      nodeOf('x', { op: 'placeholder', shape: ['4'] }),
      nodeOf('view', { target: 'aten.view', args: 'x, [4]', inputs: ['x'] }),
      nodeOf('mul', { args: 'view, 2', inputs: ['view'] })
    ]);
    const after = graphOf('b', [
      nodeOf('y', { op: 'placeholder', shape: ['4'] }),
      nodeOf('view', { target: 'aten.reshape', args: 'y, [4]', inputs: ['y'] }),
      nodeOf('mul', { args: 'view,  3', inputs: ['view'] })
    ]);
    const { changes } = diffStages(before, after);
    expect(changes.get('y')).toMatchObject({ kind: 'renamed', from: ['x'] });
    expect(changes.get('view')).toMatchObject({
      kind: 'rewritten',
      fields: ['target']
    });
    expect(changes.get('mul')).toMatchObject({
      kind: 'rewritten',
      fields: ['args']
    });
  });
});

describe('withGhosts', () => {
  it('draws a removed node where its neighbors are', () => {
    const before = graphOf('a', [
      nodeOf('x', { op: 'placeholder' }),
      nodeOf('gone', { inputs: ['x'], users: ['mul'] }),
      nodeOf('lost'),
      nodeOf('mul', { inputs: ['gone'] })
    ]);
    const after = graphOf('b', [
      nodeOf('x', { op: 'placeholder' }),
      nodeOf('mul', { inputs: ['x'] })
    ]);
    const diff = diffStages(before, after);
    const { nodes, unplaced } = withGhosts(after.nodes, diff);
    expect(nodes.map(node => node.name)).toEqual(['x', `${GHOST}gone`, 'mul']);
    expect(nodes[2].inputs).toEqual(['x', `${GHOST}gone`]);
    expect(unplaced).toBe(1);
    const graph = indexGraph(nodes);
    const { swatches, of } = colorNodes('change', {
      graph,
      fusions: [],
      diff
    });
    expect(swatches[of[1]]).toMatchObject({ id: 'removed', sign: '−' });
  });
});

describe('findFusions', () => {
  it('finds what became each kernel of a real training step', () => {
    const { graphs, kernels } = realCompilation('training');
    const graph = indexGraph(graphs.post_grad.nodes);
    const fusions = findFusions(graph, 'post_grad', kernels, []);
    const all = fusions.map(({ kernel, nodes }) => [
      kernel.name,
      nodes.map(i => graph.nodes[i].name)
    ]);
    expect(all).toContainEqual(['cpp_fused_relu_0', ['relu']]);
    // Two launches of a library's kernel are two, also without regions.
    expect(all).toContainEqual(['extern_kernels.addmm', ['addmm']]);
    expect(all).toContainEqual(['extern_kernels.addmm', ['addmm_1']]);
    expect(fusions.every(({ kernel }) => kernel.direction === 'forward')).toBe(
      true
    );
  });

  it('tells launches apart by the regions of the wrapper', () => {
    const { graphs, kernels, code } = realCompilation('training');
    const graph = indexGraph(graphs.post_grad.nodes);
    const regions = code.regions.python;
    const fusions = findFusions(graph, 'post_grad', kernels, regions);
    const addmm = fusions.filter(f => f.kernel.name === 'extern_kernels.addmm');
    expect(addmm.map(({ key, isGuess }) => [key, isGuess])).toEqual([
      ['launch:forward:#1', false],
      ['launch:forward:#3', false]
    ]);
  });

  it('leaves out a kernel of another graph of the direction', () => {
    const graph = indexGraph([nodeOf('mul')]);
    const kernels = ['launch:forward:#1', 'launch:forward.2:#1'].map(key =>
      kernelOf(key, {
        direction: 'forward',
        nodes: ['mul'],
        launches: [launchOf(key)]
      })
    );
    const fusions = findFusions(graph, 'post_grad', kernels, []);
    expect(fusions.map(({ kernel }) => kernel)).toEqual([kernels[0]]);
  });

  it('takes in what only picks a part, and gives a shared node to one hull', () => {
    const graph = indexGraph([
      nodeOf('split'),
      nodeOf('part', { target: '_operator.getitem', inputs: ['split'] }),
      nodeOf('mul', { inputs: ['part'] })
    ]);
    const kernels = [
      kernelOf('one', { nodes: ['split', 'mul'] }),
      kernelOf('two', { nodes: ['mul'] })
    ];
    const fusions = findFusions(graph, 'post_grad', kernels, []);
    expect(fusions[0].nodes).toEqual([0, 2, 1]);
    expect(fusions[1].drawn).toEqual([]);
  });
});

describe('loadStage', () => {
  it('tells launches apart by the wrapper that the kernels are of', async () => {
    const names = ['python', 'backward.cpp', 'backward.python'];
    const artifacts = names.map(name => artifact(name));
    const model = {
      report: report('f', {
        variants: [variant('python', [compilationSummary({ artifacts })])]
      }),
      getGraph: async (_v: string, _c: string, stage: string) => graphOf(stage),
      getArtifact: jest.fn(async (_v: string, _c: string, name: string) =>
        artifactResult(name, '')
      )
    };
    const launches = ['1', '2'].map(key => launchOf(key));
    const data = {
      ...{ subject: 'f', revision: 1, variant: 'python', compilation: '0/0' },
      ...{ stages: ['backward_post_grad'], absent: {} },
      kernels: [kernelOf('k', { direction: 'backward', launches })]
    };
    await loadStage(
      model as unknown as ISubjectModel,
      data,
      'backward_post_grad',
      false,
      null
    );
    expect(model.getArtifact).toHaveBeenCalledWith(
      'python',
      '0/0',
      'backward.python'
    );
  });
});

describe('withOwnLaunches', () => {
  it('leaves out the times of the other wrapper', () => {
    const other = { ...launchOf('1', launchTime(12)), variant: 'cpp' };
    const kernels = [kernelOf('k', { launches: [launchOf('1'), other] })];
    const [own] = withOwnLaunches(kernels, 'python');
    expect(own.launches).toEqual([launchOf('1')]);
    expect(launchTimes(own)).toEqual([]);
    expect(fusionTime({ kernel: own, key: '1' })).toBeNull();
  });
});

describe('opKind', () => {
  it.each([
    ['torch.ops.aten.addmm.default', 'matmul'],
    ['torch._C._nn.linear', 'matmul'],
    ['torch.ops.aten.convolution.default', 'convolution'],
    ['torch.ops.aten.sum.dim_IntList', 'reduction'],
    ['torch.ops.aten.mul.Tensor', 'pointwise'],
    ['torch.ops.aten.permute.default', 'view'],
    ['torch.ops.aten.full.default', 'memory'],
    ['torch.nn.functional.scaled_dot_product_attention', 'attention'],
    ['torch.nn.functional.layer_norm', 'normalization'],
    ['torch.ops._c10d_functional.all_reduce.default', 'collective'],
    ['torch.ops._c10d_functional.broadcast.default', 'collective'],
    ['torch.ops.c10d.allreduce_.default', 'collective'],
    ['torch.distributed._functional_collectives.broadcast', 'collective'],
    ['torch.broadcast_tensors', 'view'],
    ['torch.nn.functional.normalize', 'normalization'],
    ['torch.ops.prims.broadcast_in_dim.default', 'view'],
    ['torch.ops.prims.convert_element_type.default', 'memory'],
    ['torch.ops.aten.normal_functional.default', 'memory'],
    ['torch.ops.aten._native_batch_norm_legit.default', 'normalization'],
    ['torch.ops.aten.norm.Scalar', 'normalization'],
    ['mylib.strange', 'other']
  ])('%s is %s', (target, kind) => {
    expect(opKind(nodeOf('n', { target }))).toBe(kind);
  });
});

describe('colorNodes', () => {
  it('gives neighbors in the legend another color and another shape', () => {
    const graph = indexGraph(
      Array.from({ length: 24 }, (_, i) => nodeOf(`n${i}`))
    );
    const kernels = graph.nodes.map(({ name }) =>
      kernelOf(`k_${name}`, { nodes: [name] })
    );
    const fusions = findFusions(graph, 'post_grad', kernels, []);
    const { swatches } = colorNodes('kernel', { graph, fusions, diff: null });
    const looks = swatches.map(({ color, shape }) => `${color} ${shape}`);
    expect(new Set(looks).size).toBe(24);
    swatches.slice(1).forEach(({ color, shape }, i) => {
      expect(color).not.toBe(swatches[i].color);
      expect(shape).not.toBe(swatches[i].shape);
    });
  });

  it('sorts launches by their measured times, and leaves out the others', () => {
    const graph = indexGraph(['a', 'b', 'c', 'd', 'e'].map(n => nodeOf(n)));
    const at = (key: string, us: number | null) =>
      launchOf(key, us === null ? null : launchTime(us));
    const kernels = [
      kernelOf('slow', {
        nodes: ['a'],
        launches: [at('1', null), at('1', 80)]
      }),
      kernelOf('half', { nodes: ['b'], launches: [at('2', 40)] }),
      kernelOf('none', { nodes: ['c'], launches: [at('3', 0)] }),
      kernelOf('unknown', { nodes: ['d'], launches: [at('4', null)] }),
      kernelOf('twice', { nodes: ['e'], launches: [at('5', 60), at('6', 20)] })
    ];
    const fusions = findFusions(graph, 'post_grad', kernels, []);
    // Which of its launches the last one's node is of, nobody says.
    expect(fusions.map(fusionTime)).toEqual([80, 40, 0, null, 40]);
    const { swatches, of } = colorNodes('time', {
      graph,
      fusions,
      diff: null
    });
    expect([...of]).toEqual([0, 1, 3, -1, 1]);
    expect(swatches.map(({ id, count }) => [id, count])).toEqual([
      ['40–80 µs', 1],
      ['20–40 µs', 2],
      ['10–20 µs', 0],
      ['0–10 µs', 1]
    ]);
  });
});
