import { nameKind, OP_KINDS, type OpKind } from '../../graph/color/kinds';

/**
 * The kinds of operators by what they tell of a kernel: those that only prepare
 * values come last.
 */
const ORDER: readonly OpKind[] = [
  ...OP_KINDS.slice(0, OP_KINDS.indexOf('view')),
  'collective',
  'other',
  'memory',
  'view',
  'outside'
];

/**
 * The operators in a kernel as a short text: each once, those that take most of the
 * time of such a kernel first, torch's own without namespace and overload.
 */
export function operatorsText(ops: readonly string[]): string {
  const names = new Set(
    ops.map(op => op.replace(/^(aten|prims)\.(\w+).*$/, '$2'))
  );
  const rank = (name: string) => ORDER.indexOf(nameKind(name));
  return [...names].sort((a, b) => rank(a) - rank(b)).join(', ');
}
