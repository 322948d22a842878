import type { Node } from '../protocol/types';

const DTYPES: Record<string, string> = {
  float64: 'f64',
  float32: 'f32',
  float16: 'f16',
  bfloat16: 'bf16',
  float8_e4m3fn: 'f8e4m3',
  float8_e5m2: 'f8e5m2',
  int64: 'i64',
  int32: 'i32',
  int16: 'i16',
  int8: 'i8',
  uint8: 'u8',
  bool: 'bool',
  complex64: 'c64',
  complex128: 'c128'
};

/**
 * A short name of a dtype: `f32`.
 */
export function shortDtype(dtype: string): string {
  return DTYPES[dtype] ?? dtype;
}

/**
 * A short name of an operator: `aten.addmm`, `linear`.
 */
export function shortTarget(node: Node): string {
  const { op, target } = node;
  if (op === 'placeholder' || op === 'output' || op === 'get_attr') {
    return op;
  }
  const overload = /^torch\.ops\.(\w+)\.(\w+)(\.\w+)?$/.exec(target);
  if (overload) {
    const [, space, name, variant] = overload;
    const rest = !variant || variant === '.default' ? '' : variant;
    return `${space}.${name}${rest}`;
  }
  return target.slice(target.lastIndexOf('.') + 1) || target;
}

/**
 * Shape and dtype: `8×16 f32`; a scalar tensor's shape is empty: `[] f32`. Empty
 * where torch gives none.
 */
export function shapeText(node: Node): string {
  const { shape, dtype } = node;
  const short = dtype ? shortDtype(dtype) : '';
  if (!shape) {
    return short;
  }
  const sizes = shape.length > 0 ? shape.join('×') : '[]';
  return short ? `${sizes} ${short}` : sizes;
}

/**
 * A text of at most so many letters; what is left out is left out in the middle,
 * since names differ at their ends.
 */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) {
    return text;
  }
  const end = Math.floor((maxLength - 1) / 2);
  return `${text.slice(0, maxLength - 1 - end)}…${text.slice(text.length - end)}`;
}
