import {
  DEFAULT_OPTIONS,
  filterOf
} from '../../../../src/panels/guards/filter';
import {
  arrange,
  depthFor,
  entriesOf,
  flatten,
  groupsOf,
  pathTo,
  prune,
  treeOf
} from '../../../../src/panels/guards/rows';
import { summarize } from '../../../../src/panels/guards/totals';
import { Tries } from '../../../../src/panels/guards/tries';
import { problem } from '../../../../src/protocol/client';
import { nameOf } from '../../../../src/words/arguments';
import { guardOf, managerOf, manyGuards } from './guardSupport';
import { fullCompilation } from '../../support/structs';

const TREE = [
  managerOf({ kind: 'RootGuardManager', cost_ns: 100, fails: 4 }),
  managerOf({ source: "L['x']", parent: 0, cost_ns: 20, fails: 1 }),
  managerOf({ source: "L['self']", parent: 0, cost_ns: 60, fails: 3 }),
  managerOf({ source: "L['self'].w", parent: 2, cost_ns: 50, fails: 3 })
];
const GUARDS = [
  guardOf({ expression: 'x', manager: 1, cost_ns: 10, failed: true }),
  guardOf({ expression: 'global', manager: 0, cost_ns: 5, source: '' }),
  guardOf({
    expression: 'w',
    manager: 3,
    cost_ns: 40,
    source: "L['self'].w",
    language: 'python',
    failed: true
  }),
  guardOf({ expression: 'lost', source: '' })
];

describe('the rows of guards', () => {
  const entries = entriesOf(fullCompilation({ guards: GUARDS }));
  const names = (branches: ReturnType<typeof treeOf>) =>
    flatten(branches, () => true).map(({ level, content }) =>
      [
        level,
        content.kind === 'guard'
          ? content.entry.guard.expression
          : content.branch.source
      ].join(' ')
    );

  it('are torch’s tree, and what has no place in it', () => {
    expect(names(treeOf(entries, TREE))).toEqual([
      '1 ',
      '2 global',
      "2 L['x']",
      '3 x',
      "2 L['self']",
      "3 L['self'].w",
      '4 w',
      '1 ',
      '2 lost'
    ]);
  });

  it('are shown of a tree with a circle too', () => {
    const circle = TREE.map((manager, index) => ({
      ...manager,
      parent: (index + 1) % TREE.length
    }));
    const entries = entriesOf(fullCompilation({ guards: GUARDS }));
    expect(flatten(treeOf(entries, circle), () => true).length).toBeGreaterThan(
      GUARDS.length
    );
  });

  it('know what is below them', () => {
    const [root, homeless] = treeOf(entries, TREE);
    expect([root.count, root.cost, root.fails]).toEqual([3, 100, 4]);
    expect(homeless.count).toBe(1);
  });

  it('say their place among their siblings', () => {
    const items = flatten(treeOf(entries, TREE), () => true);
    const places = items.map(item => `${item.place}/${item.siblings}`);
    expect(places.slice(0, 4)).toEqual(['1/2', '1/3', '2/3', '1/1']);
  });

  it('keep what stands over the guards that a filter leaves', () => {
    const left = prune(treeOf(entries, TREE), e => e.guard.expression === 'w');
    expect(names(left)).toEqual(['1 ', "2 L['self']", "3 L['self'].w", '4 w']);
    expect(left[0].count).toBe(1);
  });

  it('put the costliest first', () => {
    const ordered = arrange(treeOf(entries, TREE), 'cost');
    expect(names(ordered).slice(0, 5)).toEqual([
      '1 ',
      '2 global',
      "2 L['self']",
      "3 L['self'].w",
      '4 w'
    ]);
  });

  it('are grouped by source', () => {
    const groups = groupsOf(entries);
    expect(groups.map(branch => [branch.source, branch.count])).toEqual([
      ["L['x']", 1],
      ['', 2],
      ["L['self'].w", 1]
    ]);
    expect(groups[1].cost).toBe(5);
  });

  it('lead to a guard', () => {
    expect(pathTo(treeOf(entries, TREE), 2)).toEqual(['m0', 'm2', 'm3']);
    expect(pathTo(treeOf(entries, TREE), 99)).toEqual([]);
  });

  it('are unfolded as far as has room', () => {
    const many = manyGuards(5000);
    const tree = treeOf(entriesOf(many), many.guard_tree);
    expect(depthFor(tree, 200)).toBe(1);
    expect(depthFor(treeOf(entries, TREE), 200)).toBe(3);
  });
});

describe('the filter of guards', () => {
  const shownNames = (change: Partial<typeof DEFAULT_OPTIONS>) =>
    entriesOf(fullCompilation({ guards: GUARDS }))
      .filter(filterOf({ ...DEFAULT_OPTIONS, ...change }, g => g === GUARDS[0]))
      .map(entry => entry.guard.expression);

  it('looks for all words, anywhere', () => {
    expect(shownNames({ text: "SELF'].W tensor" })).toEqual(['w']);
  });

  it('knows languages, failures and the selection', () => {
    expect(shownNames({ language: 'python' })).toEqual(['w']);
    expect(shownNames({ failing: true })).toEqual(['x', 'w']);
    expect(shownNames({ selected: true })).toEqual(['x']);
  });
});

describe('summarize', () => {
  it('takes the cost of the tree, and the share of the costliest', () => {
    const summary = summarize([
      fullCompilation({ guards: GUARDS, guard_tree: TREE })
    ]);
    expect(summary).toMatchObject({
      count: 4,
      python: 1,
      cost: 100,
      costliest: { count: 1, share: 0.4 },
      counted: true,
      failing: 1
    });
  });

  it('has no cost of a call where only single guards were measured', () => {
    const tree = [managerOf({ kind: 'RootGuardManager' }), ...TREE.slice(1)];
    const summary = summarize([
      fullCompilation({ guards: GUARDS, guard_tree: tree })
    ]);
    expect(summary).toMatchObject({ cost: null, highest: 40, costliest: null });
  });

  it('has no cost where nothing was measured', () => {
    const summary = summarize([fullCompilation({ guards: [guardOf()] })]);
    expect(summary).toMatchObject({
      cost: null,
      costliest: null,
      counted: false
    });
  });
});

describe('Tries', () => {
  it('keeps the last first, each arguments once, and answers to their try', () => {
    const tries = new Tries(() => undefined);
    const answer = tries.add('python', 'x');
    tries.add('python', 'y');
    tries.add('python', 'x[:2]');
    answer({ result: null, problem: problem({ what: 'no' }) });
    expect(tries.all.map(attempt => attempt.args)).toEqual(['x[:2]', 'y', 'x']);
    expect(tries.all[2].problem!.what).toBe('no');
    tries.add('python', 'x');
    expect(tries.all.map(attempt => attempt.args)).toEqual(['x', 'x[:2]', 'y']);
    for (let index = 0; index < 40; index++) {
      tries.add('python', `${index}`);
    }
    expect(tries.all).toHaveLength(20);
  });
});

describe('nameOf', () => {
  it('is the name before the type', () => {
    expect(['x: float32[4] cpu', '2.0', "'a: b'"].map(nameOf)).toEqual([
      'x',
      '',
      ''
    ]);
  });
});
