import { nameKind, OP_KINDS, type OpKind } from '../../graph/color/kinds';

/**
 * The kinds of operators by their importance for a kernel: those that only
 * prepare values come last.
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
 * The operators in a kernel as a short text, without duplicates: those that
 * take most of such a kernel's time first, torch's own without namespace and
 * overload.
 */
export function operatorsText(ops: readonly string[]): string {
  const names = new Set(
    ops.map(op => op.replace(/^(aten|prims)\.(\w+).*$/, '$2'))
  );
  const rank = (name: string) => ORDER.indexOf(nameKind(name));
  return [...names].sort((a, b) => rank(a) - rank(b)).join(', ');
}
