import { nullTranslator } from '@jupyterlab/translation';
import { marksOf } from '../../../../src/notebook/breaks';
import { BreaksView } from '../../../../src/panels/recompiles-breaks/breaks/view';
import { documentationOf } from '../../../../src/panels/recompiles-breaks/breaks/link';
import type {
  Break,
  DistinctBreak,
  VariantReport
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

const FILE = '/tmp/ipykernel_1/1.py';

function causeOf(change: Partial<Break> = {}): Break {
  return {
    reason: 'Failed to trace builtin operator',
    explanation: 'Dynamo does not know how to trace `print`.',
    hints: ['Remove `print`.'],
    context: 'builtin print',
    link: 'https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html',
    where: { file: FILE, line: 3, function: 'f', code: 'print(x)' },
    stack: [],
    duration_us: 100,
    resumed: '1/0',
    eager: 'print(x)',
    ...change
  };
}

function breakOf(
  change: Partial<DistinctBreak> = {},
  cause: Partial<Break> = {}
): DistinctBreak {
  return {
    cause: causeOf(cause),
    count: 1,
    wasted_us: 800,
    after_us: 2.15e7,
    before: ['0/0'],
    after: ['1/0'],
    eager: ['print(x)'],
    advice: [],
    code: '',
    place: '',
    intended: false,
    ...change
  };
}

describe('documentationOf', () => {
  it('opens pages, and nothing that runs', () => {
    expect(documentationOf('https://a.b/c')).toBe('https://a.b/c');
    expect(documentationOf('javascript:alert(1)')).toBeNull();
    expect(documentationOf('data:text/html,x')).toBeNull();
    expect(documentationOf('')).toBeNull();
  });
});

describe('marksOf', () => {
  const trans = nullTranslator.load('jupyterlab_compilescope');
  const files = { [FILE]: 'def f(x):\n  ...\n  print(x)' };

  it('marks a line once, with all its breaks', () => {
    const marks = marksOf(
      [
        breakOf({ count: 2 }),
        breakOf({}, { reason: 'other', explanation: '' })
      ],
      files,
      trans
    );
    const [mark] = marks.get(FILE)!;
    expect(mark.line).toBe(3);
    expect(mark.label).toBe('graph break × 3');
    expect(mark.reason).toContain('Failed to trace builtin operator');
    expect(mark.reason).toContain('Graph break: other');
  });

  it('marks the innermost line in a cell of one that is elsewhere', () => {
    const line = (file: string, line: number) => ({
      file,
      line,
      function: '',
      code: ''
    });
    const marks = marksOf(
      [
        breakOf(
          {},
          {
            where: line('/lib.py', 9),
            stack: [line(FILE, 1), line(FILE, 2), line('/lib.py', 9)]
          }
        ),
        breakOf({}, { where: line('/lib.py', 1), stack: [] })
      ],
      files,
      trans
    );
    expect([...marks.keys()]).toEqual([FILE]);
    expect(marks.get(FILE)![0].line).toBe(2);
  });
});

describe('BreaksView', () => {
  let model: ViewModel;
  let view: BreaksView;
  let context: ReturnType<typeof contextOf>;

  const { all, attach, click, remove } = viewStage();

  async function show(change: Partial<VariantReport>): Promise<void> {
    model.getVariant.mockResolvedValue(variantReport('python', change));
    view = new BreaksView(context);
    await attach(view);
  }

  beforeEach(() => {
    model = new ViewModel();
    model.report = report('f', {
      variants: [
        variantSummary(
          'python',
          {},
          {
            compilations: [
              compilationSummary({ id: '0/0', stages: ['dynamo'] }),
              compilationSummary({ id: '1/0', stages: [] })
            ]
          }
        )
      ]
    });
    context = contextOf(model);
  });
  afterEach(remove);

  it('tells each break: why, where, how often, what to do', async () => {
    await show({ breaks: [breakOf({ count: 3 })] });
    const [card] = all('article');
    expect(card.textContent).toContain('Failed to trace builtin operator');
    expect(card.textContent).toContain('3 times');
    expect(card.textContent).toContain('800 µs of compile time wasted');
    expect(card.textContent).toContain('The code after it21.5 s to compile');
    expect(card.textContent).toContain('Remove print.');
    expect(card.textContent).toContain('cell line 3');
    const link = card.querySelector('a')!;
    expect(link.rel).toContain('noopener');
    expect(link.href).toContain('gb0059');
  });

  it('does not count a break to leave alone as waste', async () => {
    await show({ breaks: [breakOf(), breakOf({ intended: true })] });
    const [, card] = all('article');
    expect(card.textContent).toContain('800 µs of compile time');
    expect(card.textContent).not.toContain('wasted');
    const [controls] = all('.jp-Compilescope-controls');
    expect(controls.textContent).toContain('800 µs of compile time wasted');
  });

  it('shows corrected advice in place of torch’s hints', async () => {
    await show({
      breaks: [
        breakOf({
          advice: ['Move it out.'],
          code: 'if not compiling():\n    print(x)',
          place: 'in place of line 3'
        })
      ]
    });
    const [card] = all('article');
    expect(card.textContent).toContain('Move it out.');
    expect(card.textContent).toContain('Paste the code in place of line 3.');
    expect(card.textContent).toContain('if not compiling():\n    print(x)');
    expect(card.textContent).not.toContain('Remove print.');
  });

  it('opens the graph before it; what has none is no link', async () => {
    await show({ breaks: [breakOf()] });
    model.compilation = '1/0';
    const links = all('.jp-Compilescope-graphs button');
    expect(links.map(element => element.textContent)).toEqual(['0/0']);
    await click(links[0]);
    expect(model.compilation).toBe('0/0');
    expect(context.open).toHaveBeenCalledWith('graph');
  });

  it('goes to the line, and marks the card whose line is selected', async () => {
    await show({
      breaks: [
        breakOf(),
        breakOf({}, { where: { file: FILE, line: 7, function: '', code: '' } })
      ]
    });
    await click(all('.jp-Compilescope-source button')[0]);
    expect(context.reveal).toHaveBeenCalledWith({ file: FILE, line: 3 });
    model.selectionChanged.emit();
    await drawn();
    expect(
      all('article').map(element => element.classList.contains('jp-mod-marked'))
    ).toEqual([true, false]);
  });

  it('shows those of the cell where the call has fewer', async () => {
    model.report = report('f', {
      variants: [
        variantSummary(
          'python',
          {},
          {
            breaks: 1,
            break_count: counted(
              'breaks',
              3,
              '3 graph breaks in the cell',
              'in the cell'
            )
          }
        )
      ]
    });
    model.getVariant.mockImplementation(name =>
      Promise.resolve(
        variantReport(name, {
          breaks: Array.from({ length: name === 'in the cell' ? 3 : 1 }, () =>
            breakOf()
          )
        })
      )
    );
    view = new BreaksView(context);
    await attach(view);
    expect(all('article')).toHaveLength(3);
    expect(view.node.textContent).toContain('3 graph breaks in the cell');
    expect(view.node.textContent).toContain('python has 1.');
  });

  it('says that there is none, and that this is good', async () => {
    await show({ compilations: [fullCompilation()] });
    expect(view.node.textContent).toContain('No graph breaks');
    expect(all('.jp-mod-good')).toHaveLength(1);
  });

  it('does not call it good that a report has none of what the watch sees', async () => {
    await show({ compilations: [fullCompilation()] });
    model.watch = watchState({ breaks: 1 });
    model.watchChanged.emit();
    await drawn();
    expect(view.node.textContent).toContain('No graph breaks in this report');
    expect(all('.jp-mod-good')).toHaveLength(0);
  });

  it('does not boast where nothing was compiled', async () => {
    await show({});
    expect(all('.jp-mod-good')).toHaveLength(0);
  });

  it('shows many a part at a time', async () => {
    await show({
      breaks: Array.from({ length: 120 }, (_, index) =>
        breakOf({ wasted_us: index })
      )
    });
    expect(all('article')).toHaveLength(50);
    const buttons = all('button');
    await click(buttons[buttons.length - 1]);
    expect(all('article')).toHaveLength(120);
  });

  it('shows all that torch and the user say as text', async () => {
    await show({
      breaks: [
        breakOf(
          { eager: [HOSTILE] },
          {
            reason: HOSTILE,
            explanation: HOSTILE,
            hints: [HOSTILE],
            context: HOSTILE,
            link: 'javascript:globalThis.pwned=1',
            where: { file: HOSTILE, line: 1, function: HOSTILE, code: HOSTILE }
          }
        )
      ]
    });
    expect(all('img')).toEqual([]);
    expect(all('a')).toEqual([]);
    expect(all('h3')[0].textContent).toBe(HOSTILE);
  });
});
