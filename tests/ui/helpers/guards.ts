import * as fs from 'fs';
import * as path from 'path';

const MLP = path.resolve(__dirname, '../../data/reports/mlp.compilescope.json');

/**
 * What would be an element, if it were taken for markup.
 */
export const EVIL = `<img src=x onerror="document.title='evil'">`;

/**
 * Write a report whose compilations have a given number of guards, as of a model
 * with many layers.
 *
 * @param file - Where to; it should end in `.compilescope.json`.
 */
export function writeManyGuards(file: string, count: number): void {
  const report = JSON.parse(fs.readFileSync(MLP, 'utf8'));
  delete report.contents; // the server works it out from what is put in here
  const tree: object[] = [
    manager({ kind: 'RootGuardManager', cost_ns: count * 20 }),
    manager({ source: "L['self']", parent: 0, cost_ns: count * 18 })
  ];
  const guards: object[] = [
    guard({ expression: EVIL, source: EVIL, type: 'EVIL', manager: 0 })
  ];
  for (let layer = 0; guards.length < count; layer++) {
    const source = `L['self'].layers[${layer}].weight`;
    tree.push(
      manager({
        source,
        parent: 1,
        accessor: `GetItemGuardAccessor(${layer})`,
        cost_ns: 20 + (layer % 50),
        fails: layer % 500 === 9 ? 1 : 0
      })
    );
    guards.push(
      guard({
        expression: `check_tensor(${source}, size=[${layer}, 8])`,
        source,
        type: layer % 20 === 5 ? 'LAMBDA_GUARD' : 'TENSOR_MATCH',
        language: layer % 20 === 5 ? 'python' : 'cpp',
        manager: tree.length - 1,
        cost_ns: 15 + (layer % 50),
        fails: layer % 500 === 9 ? 1 : 0,
        origin: {
          file: Object.keys(report.files)[0],
          line: 1 + (layer % 5),
          function: 'forward',
          code: 'x = layer(x)'
        }
      })
    );
  }
  for (const variant of report.variants) {
    for (const compilation of variant.compilations) {
      Object.assign(compilation, { guards, guard_tree: tree });
    }
  }
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify(report));
}

function manager(change: object): object {
  return {
    kind: 'GuardManager',
    source: '',
    accessor: '',
    value_type: '',
    parent: null,
    cost_ns: null,
    fails: 0,
    ...change
  };
}

function guard(change: object): object {
  return {
    expression: '',
    type: '',
    source: '',
    origin: null,
    manager: null,
    language: 'cpp',
    cost_ns: null,
    hits: null,
    fails: 0,
    why: '',
    ...change
  };
}
