import type {
  Compilation,
  Guard,
  GuardManager
} from '../../../../src/protocol/types';
import { fullCompilation } from '../../support/structs';

export function guardOf(change: Partial<Guard> = {}): Guard {
  return {
    expression: "check_tensor(L['x'])",
    type: 'TENSOR_MATCH',
    source: "L['x']",
    origin: null,
    manager: null,
    language: 'cpp',
    cost_ns: null,
    hits: null,
    fails: null,
    why: '',
    failed: false,
    ...change
  };
}

export function managerOf(change: Partial<GuardManager> = {}): GuardManager {
  return {
    kind: 'GuardManager',
    source: '',
    accessor: '',
    value_type: '',
    parent: null,
    cost_ns: null,
    fails: null,
    shortcut: false,
    ...change
  };
}

/**
 * A model of many layers, each with a weight and a flag to check.
 */
export function manyGuards(count: number): Compilation {
  const guards: Guard[] = [];
  const guard_tree = [managerOf({ kind: 'RootGuardManager', cost_ns: count })];
  for (let layer = 0; guards.length < count; layer++) {
    const manager = guard_tree.length;
    const source = `L['self'].layers.${layer}`;
    guard_tree.push(
      managerOf({
        source,
        parent: 0,
        accessor: `GetAttrGuardAccessor(${layer})`,
        cost_ns: layer
      })
    );
    const origin = {
      file: '/tmp/ipykernel_1/1.py',
      line: (layer % 7) + 1,
      function: 'forward',
      code: 'x = layer(x)'
    };
    guards.push(
      guardOf({
        expression: `check_tensor(${source}.weight)`,
        source: `${source}.weight`,
        manager,
        origin,
        cost_ns: layer / 2,
        fails: layer % 100 === 7 ? 2 : 0,
        failed: layer % 100 === 7
      }),
      guardOf({
        expression: `${source}.training == False`,
        type: 'LAMBDA_GUARD',
        source: `${source}.training`,
        manager,
        origin,
        language: layer % 10 === 3 ? 'python' : 'cpp',
        cost_ns: layer / 4,
        fails: 0
      })
    );
  }
  return fullCompilation({ guards, guard_tree });
}
