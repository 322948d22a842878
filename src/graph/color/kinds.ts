import type { Node } from '../../protocol/types';

/**
 * The kinds of operators.
 */
export const OP_KINDS = [
  'matmul',
  'convolution',
  'attention',
  'normalization',
  'reduction',
  'pointwise',
  'view',
  'memory',
  'collective',
  'outside',
  'other'
] as const;

export type OpKind = (typeof OP_KINDS)[number];

/**
 * Name of an operator, without overload → its kind. The first that matches.
 */
const RULES: readonly [OpKind, RegExp][] = [
  [
    'collective',
    /^(all_reduce|all_gather|reduce_scatter|all_to_all|wait_tensor)/
  ],
  ['attention', /attention|^flex_/],
  [
    'matmul',
    /^_?(addmm|mm|bmm|baddbmm|addbmm|matmul|linear|dot|mv|einsum|int_mm|scaled_mm|grouped_mm|__matmul__|linear_\w+)$/
  ],
  ['convolution', /conv(?!ert)/],
  ['normalization', /norm(?!al(_|$))|^var_mean|softmax/],
  [
    'reduction',
    /^(sum|mean|amax|amin|max|min|prod|var|std|any|all|argmax|argmin|logsumexp|norm|cumsum|cumprod|topk|sort|\w*_loss|cross_entropy|\w*pool\w*)(_\w+)?$/
  ],
  [
    'view',
    /^(view|reshape|_?unsafe_view|permute|transpose|t|squeeze|unsqueeze|expand|expand_as|slice|select|split\w*|chunk|broadcast_(tensors|to|in_dim)|unbind|flatten|getitem|as_strided|diagonal|alias|detach|unfold|narrow|size|movedim|contiguous)$/
  ],
  [
    'memory',
    /^(clone|copy_?|_?to(_copy)?|empty\w*|full\w*|zeros\w*|ones\w*|new_\w+|arange|rand\w*|normal\w*|cat|stack|index\w*|gather|scatter\w*|embedding\w*|lift\w*|fill_?|constant_pad_nd|pad|repeat\w*|roll|select_scatter|slice_scatter|convert_element_type|device_put|iota|scalar_tensor|tensor|inductor_\w+|masked_scatter)$/
  ],
  [
    'pointwise',
    /^_?(add|sub|rsub|mul|div|pow|neg|abs|exp|log\w*|sqrt|rsqrt|sin|cos|tan|tanh|sigmoid|relu\w*|gelu|silu|erf\w*|where|eq|ne|lt|le|gt|ge|and|or|not|xor|bitwise_\w+|logical_\w+|maximum|minimum|clamp\w*|dropout|native_dropout|threshold\w*|floor\w*|ceil|round|trunc|sign|reciprocal|square|masked_fill|addcmul|addcdiv|lerp|hardtanh|hardswish|leaky_relu|elu|mish|softplus|fma|remainder|truediv|iadd|imul|isub|tanh_backward|gelu_backward|silu_backward|sigmoid_backward|\w+_backward)_?$/
  ]
];

/**
 * The namespaces of collectives: names such as `broadcast` are others' elsewhere.
 */
const COLLECTIVES =
  /^torch\.(ops\.(_?c10d_functional|c10d|symm_mem)|distributed\._functional_collectives)\./;

/**
 * The kind of a node's operator.
 */
export function opKind(node: Node): OpKind {
  if (
    node.op === 'placeholder' ||
    node.op === 'output' ||
    node.op === 'get_attr'
  ) {
    return 'outside';
  }
  if (COLLECTIVES.test(node.target)) {
    return 'collective';
  }
  const overload = /^torch\.ops\.\w+\.(\w+)/.exec(node.target);
  const name =
    overload?.[1] ?? node.target.slice(node.target.lastIndexOf('.') + 1);
  return nameKind(name);
}

/**
 * The kind of an operator by its name, without namespace and overload.
 */
export function nameKind(name: string): OpKind {
  const plain = name.replace(/^__|__$/g, '').replace(/^prims?_/, '');
  return RULES.find(([, rule]) => rule.test(plain))?.[0] ?? 'other';
}
