import { RecompilesView } from '../../../../src/panels/recompiles-breaks/recompiles/view';
import {
  framesOf,
  inTime
} from '../../../../src/panels/recompiles-breaks/recompiles/frames';
import { layOut } from '../../../../src/panels/recompiles-breaks/recompiles/layout';
import { WatchedNote } from '../../../../src/panels/recompiles-breaks/watchedNote';
import type {
  Advice,
  Compilation,
  Count,
  Recompile,
  RecompileCause,
  WatchState
} from '../../../../src/protocol/types';
import { counted, report, variantSummary } from '../../support/fakes';
import {
  compilationSummary,
  fullCompilation,
  variantReport,
  watchState
} from '../../support/structs';
import {
  contextOf,
  drawn,
  HOSTILE,
  ViewModel,
  viewStage
} from '../../support/views';

const WHERE = {
  file: '/tmp/ipykernel_1/1.py',
  line: 2,
  function: 'step',
  code: 'return x * rate'
};

function causeOf(change: Partial<RecompileCause> = {}): RecompileCause {
  return {
    subject: 'x.size(0)',
    text: 'x.size(0): 8 → 12',
    was: '8',
    now: '12',
    guard: "check_tensor(L['x'])",
    compilations: ['0/0'],
    where: WHERE,
    ...change
  };
}

function recompileOf(change: Partial<Recompile> = {}): Recompile {
  return {
    reasons: [
      "0/0: tensor 'x' size mismatch at index 0. expected 8, actual 12"
    ],
    previous: '0/0',
    failures: [],
    causes: [causeOf()],
    became_dynamic: ["L['x'].size()[0] → s77"],
    count: 2,
    limit: 8,
    at_limit: false,
    eager_fallback: false,
    limit_text: 'compiled 2 of at most 8 times',
    advice: [],
    ...change
  };
}

function compiled(
  id: string,
  started_s: number | null,
  change: Partial<Compilation> = {}
): Compilation {
  return fullCompilation({
    id,
    started_s,
    duration_s: 0.5,
    frame: WHERE,
    ...change
  });
}

const ADVICE: Advice = {
  kind: 'mark_dynamic',
  what: 'Mark size 0 of `x` as dynamic.',
  code: 'torch._dynamo.mark_dynamic(x, 0)',
  where: { ...WHERE, line: 1 }
};
const LOOP = [
  compiled('0/0', 10),
  compiled('1/0', 11, { duration_s: 2 }),
  compiled('0/1', 12, { recompile: recompileOf({ advice: [ADVICE] }) }),
  compiled('0/2', 13, {
    recompile: recompileOf({
      previous: '0/1',
      causes: [
        causeOf({
          subject: 'rate',
          text: 'rate: 0.1 → 0.05',
          was: '0.1',
          now: '0.05',
          compilations: ['0/1']
        })
      ],
      count: 8,
      at_limit: true,
      eager_fallback: true
    })
  })
];

describe('framesOf', () => {
  it('puts the compilations of a frame together, in the order of time', () => {
    const frames = framesOf([LOOP[3], LOOP[2], LOOP[1], LOOP[0]]);
    expect(
      frames.map(frame => frame.compilations.map(({ id }) => id).join(' '))
    ).toEqual(['0/0 0/1 0/2', '1/0']);
    expect(frames[0]).toMatchObject({
      recompiles: 2,
      cost: 1.5,
      recompileCost: 1
    });
    expect(frames[1]).toMatchObject({ recompiles: 0, recompileCost: null });
  });

  it('leaves what has no time where it came', () => {
    const all = [compiled('0/0', 5), compiled('1/0', null), compiled('2/0', 1)];
    expect(inTime(all).map(compilation => compilation.id)).toEqual([
      '2/0',
      '0/0',
      '1/0'
    ]);
  });
});

describe('layOut', () => {
  const frames = framesOf(LOOP);

  it('draws costs to scale, one after the other, in the width', () => {
    const { rows, width } = layOut(frames, 1000);
    const [first, again, last] = rows[0];
    const [other] = rows[1];
    expect(other.width / first.width).toBeCloseTo(4);
    expect(first.left).toBeLessThan(other.left);
    expect(other.left).toBeLessThan(again.left);
    expect(last.left + last.room).toBeLessThanOrEqual(width);
    expect(width).toBe(1000);
  });

  it('is wider where there are more than fit, and all can be hit', () => {
    const many = framesOf(
      Array.from({ length: 500 }, (_, index) => compiled(`${index}/0`, index))
    );
    const { rows, width } = layOut(many, 300);
    expect(width).toBeGreaterThan(500 * 14);
    rows.forEach(([mark]) => expect(mark.width).toBeGreaterThanOrEqual(5));
  });

  it('has room for the text up to the next of its frame', () => {
    const [[first, again]] = layOut(frames, 1000).rows;
    expect(first.left + first.room).toBeLessThan(again.left);
  });
});

describe('RecompilesView', () => {
  const reportOf = (recompile_count: Count) =>
    report('f', {
      variants: [variantSummary('python', {}, { recompile_count })]
    });

  let model: ViewModel;
  let view: RecompilesView;
  let context: ReturnType<typeof contextOf>;
  let height: jest.SpyInstance;

  const { all, attach, click, press, remove } = viewStage();
  const button = (text: string) =>
    all('button').find(element => element.textContent === text)!;

  async function show(compilations: Compilation[]): Promise<void> {
    model.getVariant.mockResolvedValue(
      variantReport('python', { compilations })
    );
    view = new RecompilesView(context);
    await attach(view);
  }

  beforeEach(() => {
    height = jest
      .spyOn(Element.prototype, 'clientHeight', 'get')
      .mockReturnValue(480);
    model = new ViewModel();
    model.report = reportOf(counted('recompiles', 2, '2 recompiles'));
    context = contextOf(model);
  });
  afterEach(() => {
    remove();
    height.mockRestore();
  });

  it('tells what failed, with both values, what it cost, and the limit', async () => {
    await show(LOOP);
    const [first, second] = all('article').map(element => element.textContent!);
    expect(first).toContain('x.size(0): 8 → 12');
    expect(first).toContain('500 ms');
    expect(first).toContain('2 of 8 compilations');
    expect(first).toContain("L['x'].size()[0] → s77");
    expect(first).toContain('torch._dynamo.mark_dynamic(x, 0)');
    expect(second).toContain('limit reached');
    const cells = all('article td').slice(0, 2);
    expect(cells.map(element => element.textContent)).toEqual(['8', '12']);
    const [meter] = all('[role=meter]');
    expect(meter.getAttribute('aria-valuenow')).toBe('2');
    expect(view.node.textContent).toContain(
      '2 recompiles in one frame, 1.00 s'
    );
    // What torch refused at the limit is none that it compiled.
    expect(
      all('.jp-Compilescope-frameName').map(element => element.textContent)
    ).toContainEqual(expect.stringContaining('compiled 2 times'));
    // Nothing else is asked for until it is looked at.
    expect(model.getArtifact).not.toHaveBeenCalled();
    expect(model.getCompilation).not.toHaveBeenCalled();
  });

  it('is walked along a frame and from frame to frame', async () => {
    await show(LOOP);
    const [grid] = all('[role=grid]');
    await press(grid, 'ArrowRight');
    expect(model.compilation).toBe('0/1');
    expect(
      all('[role=gridcell][aria-selected=true]')[0].getAttribute('aria-label')
    ).toBe('0/1, recompiled: x.size(0): 8 → 12, 500 ms');
    expect(all('.jp-mod-chosen')).toHaveLength(1);
    await press(grid, 'ArrowDown');
    expect(model.compilation).toBe('1/0');
    await press(grid, 'ArrowUp');
    expect(model.compilation).toMatch(/^0\//);
  });

  it('goes to the line that an advice is for', async () => {
    await show(LOOP);
    const [link] = all('.jp-Compilescope-advice .jp-Compilescope-link');
    await click(link);
    expect(context.reveal).toHaveBeenCalledWith({ file: WHERE.file, line: 1 });
  });

  it('opens the guards of the compilation whose guard failed', async () => {
    await show(LOOP);
    await click(all('.jp-Compilescope-failures td .jp-Compilescope-link')[0]);
    expect(model.compilation).toBe('0/0');
    expect(context.open).toHaveBeenCalledWith('guards');
  });

  it('compares two compilations in a text that both have', async () => {
    const artifact = (name: string) => ({
      name,
      label: name,
      group: 'graph' as const,
      language: 'fx',
      lines: 2,
      forms: [],
      configs: []
    });
    model.report = report('f', {
      variants: [
        variantSummary(
          'python',
          {},
          {
            compilations: ['0/0', '0/1', '0/2'].map(id =>
              compilationSummary({
                id,
                artifacts: ['graph.dynamo', 'graph.post_grad'].map(artifact)
              })
            )
          }
        )
      ]
    });
    model.getArtifact.mockImplementation((_, id: string, name: string) =>
      Promise.resolve({
        artifact: artifact(name),
        text: `${id}\nsame`,
        regions: []
      })
    );
    Object.assign(context, {
      languages: { findByName: () => null, findByExtension: () => null }
    });
    await show(LOOP);
    await click(button('Compare with 0/1'));
    expect(model.getArtifact.mock.calls).toEqual([
      ['python', '0/1', 'graph.post_grad'],
      ['python', '0/2', 'graph.post_grad']
    ]);
    const [compare] = all('.jp-Compilescope-compare');
    await drawn();
    expect(compare.querySelectorAll('.cm-editor')).toHaveLength(2);
    expect(compare.textContent).toContain('1 change');
    await click(compare.querySelector('[aria-label="Close the comparison"]')!);
    expect(all('.jp-Compilescope-compare')).toHaveLength(0);
  });

  it('shows the recompiles of the cell where the variant has none', async () => {
    model.report = reportOf(
      counted('recompiles', 3, '3 recompiles in the cell', 'in the cell')
    );
    model.variant = 'python';
    model.getVariant.mockImplementation(name =>
      Promise.resolve(
        variantReport(name, {
          compilations: name === 'in the cell' ? LOOP : [compiled('0/0', 1)]
        })
      )
    );
    view = new RecompilesView(context);
    await attach(view);
    expect(view.node.textContent).toContain('3 recompiles in the cell');
    expect(view.node.textContent).toContain('python has none.');
    // What is selected from then on is of the cell.
    await click(all('article button')[0]);
    expect(model.variant).toBe('in the cell');
  });

  it('says that nothing was compiled again, and how to see a loop', async () => {
    model.report = reportOf(counted('recompiles', 0, '0 recompiles'));
    await show([compiled('0/0', 1), compiled('1/0', 2)]);
    expect(view.node.textContent).toContain('No recompiles');
    expect(view.node.textContent).toContain('Each of 2 frames');
    expect(view.node.textContent).toContain('%compilescope watch');
    expect(all('article')).toHaveLength(0);
    expect(all('[role=grid]')).toHaveLength(0);
  });

  it('does not call it good that a report has none of what the watch sees', async () => {
    model.report = reportOf(counted('recompiles', 0, '0 recompiles'));
    await show([compiled('0/0', 1)]);
    expect(all('.jp-Compilescope-good')).toHaveLength(1);
    model.watch = watchState({ recompiles: 2 });
    model.watchChanged.emit();
    await drawn();
    expect(all('.jp-Compilescope-good')).toHaveLength(0);
    expect(view.node.textContent).toBe(
      'No recompiles in this report. One frame, compiled once. '
    );
  });

  it('says why later calls recompile where the inspected one did not', async () => {
    const why = 'The call changes self.calls, which a guard checks.';
    model.report = reportOf({
      ...counted('recompiles', 1, '1 recompile in every call'),
      why
    });
    await show([compiled('0/0', 1)]);
    const text = view.node.textContent;
    expect(text).toContain(`1 recompile in every call. ${why}`);
    expect(text).not.toContain('No recompiles');
    expect(all('article')).toHaveLength(0);
  });

  it('shows the guard that later calls fail, and what to change', async () => {
    model.report = reportOf({
      ...counted('recompiles', 1, '1 recompile in every call'),
      causes: [
        {
          subject: 'self.calls',
          text: 'self.calls: 4 → 5',
          was: '4',
          now: '5',
          guard: "L['self'].calls == 4",
          compilations: [],
          where: { ...WHERE, code: 'self.calls += 1' }
        }
      ],
      remedy: 'Change self.calls outside the compiled code.'
    });
    await show([compiled('0/0', 1)]);
    const cells = all('tbody th, tbody td').map(cell => cell.textContent);
    expect(cells.slice(0, 4)).toEqual([
      'self.calls',
      '4',
      '5',
      "L['self'].calls == 4"
    ]);
    expect(cells[4]).toContain(String(WHERE.line));
    expect(all('aside')[0].textContent).toContain('Change self.calls outside');
  });

  it('draws what is in sight of many frames', async () => {
    await show([
      ...Array.from({ length: 2000 }, (_, index) =>
        compiled(`${index}/0`, index)
      ),
      compiled('0/1', 2000, { recompile: recompileOf({}) })
    ]);
    expect(all('[role=row]').length).toBeLessThan(40);
    expect(all('[role=grid]')[0].getAttribute('aria-rowcount')).toBe('2000');
  });

  it('shows all that torch and the user say as text', async () => {
    await show([
      compiled('0/0', 1, {
        frame: { ...WHERE, file: HOSTILE, function: HOSTILE }
      }),
      compiled('0/1', 2, {
        recompile: recompileOf({
          reasons: [HOSTILE],
          causes: [causeOf({ subject: HOSTILE, text: HOSTILE, was: HOSTILE })],
          became_dynamic: [HOSTILE],
          advice: [{ ...ADVICE, what: HOSTILE, code: HOSTILE }]
        })
      })
    ]);
    expect(all('img')).toEqual([]);
    expect(all('article')[0].textContent).toContain(HOSTILE);
  });
});

it('WatchedNote says what the watch sees meanwhile, and leads there', async () => {
  const { all, attach, click, remove } = viewStage();
  const model = new ViewModel();
  await attach(new WatchedNote(contextOf(model)));
  const see = async (change: Partial<WatchState>) => {
    model.watch = watchState(change);
    model.watchChanged.emit();
    await drawn();
    return all('p').map(({ textContent }) => textContent);
  };
  expect(await see({})).toEqual([]);
  expect(await see({ recompiles: 1, breaks: 2 })).toEqual([
    'The watch saw 1 recompile, 2 graph breaks. Below is the inspected call of f alone.'
  ]);
  await click(all('button')[0]);
  expect(model.subject).toBe('watch-1');
  expect(await see({ recompiles: 1 })).toEqual([]);
  remove();
});
