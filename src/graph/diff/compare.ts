import type { Node } from '../../protocol/types';

const WORD = /[A-Za-z_]\w*/g;

/**
 * In which fields a node differs from what it was. What only differs in how torch
 * writes it, or in the names of inputs that were renamed, does not count.
 *
 * @param renames - Name before → name now.
 */
export function differingParts(
  before: Node,
  after: Node,
  renames: ReadonlyMap<string, string>
): string[] {
  const fields: string[] = [];
  const compare = (field: string, a: unknown, b: unknown) => {
    // What one of the two does not say cannot differ.
    const isKnown = a !== null && b !== null && a !== '' && b !== '';
    if (isKnown && String(a) !== String(b)) {
      fields.push(field);
    }
  };
  if (before.op !== 'placeholder') {
    compare('target', before.target, after.target);
    compare(
      'args',
      normal(before.args).replace(WORD, word => renames.get(word) ?? word),
      normal(after.args)
    );
  }
  compare('shape', before.shape, after.shape);
  compare('stride', before.stride, after.stride);
  compare('dtype', before.dtype, after.dtype);
  compare('device', before.device, after.device);
  return fields;
}

function normal(args: string): string {
  return args.replace(/\s+/g, '').replace(/;.*$/, '');
}
