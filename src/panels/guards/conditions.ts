import type { TranslationBundle } from '@jupyterlab/translation';
import type { Guard } from '../../protocol/types';
import { formatCount } from '../../words/format';

/**
 * What must stay as it is for a compilation to be reused.
 */
export interface ICondition {
  /**
   * As the user writes it: `x`, `self.training`; else a group of guards in words.
   */
  readonly name: string;

  /**
   * What it must be: `float32[16, 32]`, `0.1`.
   */
  readonly must: string;

  /**
   * The guard's place; null for a group.
   */
  readonly guard: number | null;
  readonly hasFailed: boolean;
}

const TENSOR =
  /^check_tensor\(.*, torch\.(\w+), device=(\w+), requires_grad=(True|False), size=\[([^\]]*)\](?:, stride=\[([^\]]*)\])?\)$/s;
const VALUES = ['EQUALS_MATCH', 'CONSTANT_MATCH', 'FALSE_MATCH', 'TRUE_MATCH'];
const LENGTHS = ['LENGTH_CHECK', 'DICT_LENGTH', 'SEQUENCE_LENGTH'];
const STATES = [
  'GLOBAL_STATE',
  'GRAD_MODE',
  'DETERMINISTIC_ALGORITHMS',
  'TORCH_FUNCTION_STATE',
  'TORCH_FUNCTION_MODE_STACK',
  'DEFAULT_DEVICE',
  'FSDP_TRAINING_STATE'
];

/**
 * The conditions that guards stand for: the call's inputs first, then values,
 * then in groups what seldom changes. Every guard is in one of them.
 */
export function conditionsOf(
  guards: readonly Guard[],
  failed: (index: number) => boolean,
  trans: TranslationBundle
): readonly ICondition[] {
  const inputs: ICondition[] = [];
  const values: ICondition[] = [];
  const groups = { weights: 0, state: 0, rest: 0 };
  const failures = { weights: false, state: false, rest: false };
  guards.forEach((guard, index) => {
    const hasFailed = failed(index);
    const must = requirement(guard, trans);
    const isOwn = must !== '' && !isInside(guard.source);
    if (isOwn) {
      const isTensor = guard.type === 'TENSOR_MATCH';
      (isTensor ? inputs : values).push({
        name: isRelation(guard) ? '' : written(guard.source),
        must,
        guard: index,
        hasFailed
      });
      return;
    }
    const group =
      guard.type === 'TENSOR_MATCH'
        ? 'weights'
        : STATES.includes(guard.type)
          ? 'state'
          : 'rest';
    groups[group]++;
    failures[group] ||= hasFailed;
  });
  const grouped = (
    group: keyof typeof groups,
    name: string,
    must: string
  ): ICondition[] =>
    groups[group] > 0
      ? [
          {
            name,
            must,
            guard: null,
            hasFailed: failures[group]
          }
        ]
      : [];
  return [
    ...inputs,
    ...values,
    ...grouped(
      'weights',
      trans._n(
        '%2 weight',
        '%2 weights',
        groups.weights,
        formatCount(groups.weights)
      ),
      trans.__('the same type, shape, strides and device')
    ),
    ...grouped(
      'state',
      trans.__('torch’s state'),
      trans.__('gradient mode, autocast, default device and the like')
    ),
    ...grouped(
      'rest',
      trans._n(
        '%2 other guard',
        '%2 other guards',
        groups.rest,
        formatCount(groups.rest)
      ),
      trans.__('the same modules, functions, types and hooks')
    )
  ];
}

/**
 * What a guard asks of its source; empty for what is no input and no value.
 */
function requirement(
  { type, expression, source }: Guard,
  trans: TranslationBundle
): string {
  if (type === 'TENSOR_MATCH') {
    const found = TENSOR.exec(expression);
    if (!found) {
      return '';
    }
    const [, dtype, , gradient, sizes, strides = ''] = found;
    const shape = list(sizes);
    const parts = [`${dtype}[${shape.map(size => size ?? '*').join(', ')}]`];
    if (shape.includes(null)) {
      parts.push(trans.__('* is any size'));
    }
    if (!isContiguous(shape, list(strides))) {
      parts.push(trans.__('strides %1', strides.replace(/None/g, '*')));
    }
    if (gradient === 'True') {
      parts.push('requires_grad=True');
    }
    return parts.join(', ');
  }
  if (VALUES.includes(type) && expression.startsWith(`${source} == `)) {
    return expression.slice(source.length + 4);
  }
  if (LENGTHS.includes(type)) {
    const length = /^len\(.*\) == (\d+)$/s.exec(expression);
    return length ? trans._n('%1 item', '%1 items', Number(length[1])) : '';
  }
  return type === 'SHAPE_ENV' && expression ? written(expression) : '';
}

/**
 * Whether a guard is about how sizes relate: no single source stands for it.
 */
function isRelation({ type }: Guard): boolean {
  return type === 'SHAPE_ENV';
}

/**
 * Whether a source is part of a module, or torch's own: what users set seldom.
 */
function isInside(source: string): boolean {
  return (
    /_modules\[|_parameters\[|_buffers\[|\.__\w+__|dict\.keys\(/.test(source) ||
    /^G\['__(?:import|builtins)/.test(source)
  );
}

/**
 * A source or expression as the user writes it: `L['x'].size()[0]` is `x.size(0)`.
 */
function written(text: string): string {
  return text
    .replace(/[LG]\['(\w+)'\]/g, '$1')
    .replace(/\.(size|stride)\(\)\[(\d+)\]/g, '.$1($2)');
}

function list(text: string): (number | null)[] {
  return text.trim()
    ? text
        .split(',')
        .map(each => (each.trim() === 'None' ? null : Number(each)))
    : [];
}

/**
 * Whether strides are those of a tensor without gaps, as far as they are known.
 */
function isContiguous(
  shape: readonly (number | null)[],
  strides: readonly (number | null)[]
): boolean {
  let expected: number | null = 1;
  for (let place = strides.length - 1; place >= 0; place--) {
    const [size, stride] = [shape[place], strides[place]];
    if (
      stride !== null &&
      expected !== null &&
      size !== 1 &&
      stride !== expected
    ) {
      return false;
    }
    expected =
      expected === null || size === null ? null : expected * (size ?? 1);
  }
  return true;
}
