// Graphs as torch makes them, of any size: a transformer's inference graph after the post-grad
// passes. Layers hold a norm, an attention and an MLP; a residual runs past them, and a mask is used
// by each.

/**
 * Make a graph of about `count` nodes.
 */
export function transformer(count) {
  const nodes = [];
  const add = (name, target, inputs, module, type, shape = ['8', '512', '768']) => {
    nodes.push({
      name,
      op: target === 'placeholder' ? 'placeholder' : 'call_function',
      target: target === 'placeholder' ? name : `torch.ops.aten.${target}`,
      args: inputs.join(', '),
      inputs,
      users: [],
      shape,
      stride: shape.map((_, i) => String(i + 1)),
      dtype: 'float32',
      device: 'cuda:0',
      sources: [
        {
          file: '/home/user/model.py',
          line: 10 + (nodes.length % 40),
          function: 'forward',
          code: ''
        }
      ],
      module,
      module_type: type,
      line: nodes.length + 2,
      origins:
        target === 'placeholder' ? [`l_self_modules_${module ?? 'x'}_parameters_weight_`] : []
    });
    return name;
  };
  let serial = 0;
  const op = (target, inputs, module, type) =>
    add(`${target.split('.')[0]}_${serial++}`, target, inputs, module, type);
  const parameter = (module, type) =>
    add(`arg${serial++}_1`, 'placeholder', [], module, type, ['768']);
  nodes.push({
    ...nodeOf('ids'),
    op: 'placeholder',
    target: 'ids',
    origins: ['l_ids_']
  });
  const mask = op('full.default', ['ids'], 'model', 'Model');
  let x = op('embedding.default', ['ids'], 'model.embed', 'Embedding');
  const norm = (x, module) => {
    const weight = parameter(module, 'LayerNorm');
    const stats = op('var_mean.correction', [x], module, 'LayerNorm');
    const mean = op('getitem.default', [stats], module, 'LayerNorm');
    const variance = op('getitem.default', [stats], module, 'LayerNorm');
    const sub = op('sub.Tensor', [x, mean], module, 'LayerNorm');
    const eps = op('add.Tensor', [variance], module, 'LayerNorm');
    const rsqrt = op('rsqrt.default', [eps], module, 'LayerNorm');
    const mul = op('mul.Tensor', [sub, rsqrt], module, 'LayerNorm');
    return op('mul.Tensor', [mul, weight], module, 'LayerNorm');
  };
  const linear = (x, module) => {
    const weight = parameter(module, 'Linear');
    const bias = parameter(module, 'Linear');
    const turned = op('permute.default', [weight], module, 'Linear');
    const flat = op('reshape.default', [x], module, 'Linear');
    const product = op('addmm.default', [bias, flat, turned], module, 'Linear');
    return op('reshape.default', [product], module, 'Linear');
  };
  for (let layer = 0; nodes.length < count - 60; layer++) {
    const at = `model.layers.${layer}`;
    const y = norm(x, `${at}.norm_1`);
    const attention = `${at}.attention`;
    const heads = ['q', 'k', 'v'].map(projection => {
      const out = linear(y, `${attention}.${projection}`);
      const view = op('view.default', [out], attention, 'Attention');
      return op('permute.default', [view], attention, 'Attention');
    });
    const scores = op('bmm.default', [heads[0], heads[1]], attention, 'Attention');
    const masked = op('where.self', [scores, mask], attention, 'Attention');
    const top = op('amax.default', [masked], attention, 'Attention');
    const shifted = op('sub.Tensor', [masked, top], attention, 'Attention');
    const exp = op('exp.default', [shifted], attention, 'Attention');
    const sum = op('sum.dim_IntList', [exp], attention, 'Attention');
    const div = op('div.Tensor', [exp, sum], attention, 'Attention');
    const mixed = op('bmm.default', [div, heads[2]], attention, 'Attention');
    const out = linear(mixed, `${attention}.out`);
    x = op('add.Tensor', [x, out], at, 'Block');
    const z = norm(x, `${at}.norm_2`);
    const up = linear(z, `${at}.mlp.up`);
    const half = op('mul.Tensor', [up], `${at}.mlp`, 'MLP');
    const erf = op('erf.default', [half], `${at}.mlp`, 'MLP');
    const erfPlusOne = op('add.Tensor', [erf], `${at}.mlp`, 'MLP');
    const gelu = op('mul.Tensor', [up, erfPlusOne], `${at}.mlp`, 'MLP');
    x = op('add.Tensor', [x, linear(gelu, `${at}.mlp.down`)], at, 'Block');
  }
  x = linear(norm(x, 'model.norm'), 'head');
  nodes.push({ ...nodeOf('output'), op: 'output', target: 'output', inputs: [x] });
  return withUsers(nodes);
}

/**
 * Fill in who uses what.
 */
export function withUsers(nodes) {
  const at = new Map(nodes.map(node => [node.name, node]));
  for (const node of nodes) {
    node.users = [];
  }
  for (const node of nodes) {
    for (const input of new Set(node.inputs)) {
      at.get(input)?.users.push(node.name);
    }
  }
  return nodes;
}

export function nodeOf(name) {
  return {
    name,
    op: 'call_function',
    target: name,
    args: '',
    inputs: [],
    users: [],
    shape: null,
    stride: null,
    dtype: null,
    device: null,
    sources: [],
    module: null,
    module_type: null,
    line: null,
    origins: []
  };
}
