import { ShapesView } from '../../../../src/panels/recompiles-breaks/shapes/view';
import { treeOf } from '../../../../src/panels/recompiles-breaks/shapes/tree';
import type {
  Compilation,
  ShapeDecision,
  ShapeExpression
} from '../../../../src/protocol/types';
import { report, variantSummary } from '../../support/fakes';
import { compilationSummary, fullCompilation } from '../../support/structs';
import { contextOf, HOSTILE, ViewModel, viewStage } from '../../support/views';

const FILE = '/tmp/ipykernel_1/1.py';
const LINE = { file: FILE, line: 3, function: 'f', code: 'if total > 16:' };

function decision(change: Partial<ShapeDecision> = {}): ShapeDecision {
  return {
    kind: 'guard',
    expression: '2*s0 > 16',
    result: '',
    reason: '',
    sources: { s0: "L['x'].size()[0]" },
    stack: [LINE],
    locals: {},
    provenance: null,
    ...change
  };
}

function expression(
  text: string,
  operands: number[] = [],
  change: Partial<ShapeExpression> = {}
): ShapeExpression {
  return { text, method: '', arguments: [], operands, stack: [], ...change };
}

describe('treeOf', () => {
  it('leads from an expression to what it was computed from, each once', () => {
    const all = [
      expression('u0'),
      expression('u0 + u0', [0]),
      expression('u0 + u0 > u0', [1, 0])
    ];
    expect(
      treeOf(2, all).map(({ expression, depth }) => [depth, expression.text])
    ).toEqual([
      [0, 'u0 + u0 > u0'],
      [1, 'u0 + u0'],
      [2, 'u0']
    ]);
  });

  it('takes a chain of any length', () => {
    const all = Array.from({ length: 50000 }, (_, index) =>
      expression(`e${index}`, index ? [index - 1] : [])
    );
    expect(treeOf(all.length - 1, all)).toHaveLength(all.length);
  });
});

describe('ShapesView', () => {
  let model: ViewModel;
  let view: ShapesView;
  let context: ReturnType<typeof contextOf>;

  const { all, attach, click, remove } = viewStage();

  async function show(change: Partial<Compilation>): Promise<void> {
    model.getCompilation.mockResolvedValue(fullCompilation(change));
    view = new ShapesView(context);
    await attach(view);
  }

  beforeEach(() => {
    model = new ViewModel();
    model.report = report('f', {
      variants: [
        variantSummary(
          'python',
          {},
          { compilations: [compilationSummary({ id: '0/0' })] }
        )
      ]
    });
    context = contextOf(model);
  });
  afterEach(remove);

  it('asks for this part of the compilation alone', async () => {
    await show({ shape_decisions: [decision()] });
    expect(model.getCompilation).toHaveBeenCalledWith('python', '0/0', [
      'shapes'
    ]);
  });

  it('lists symbols with what they stand for', async () => {
    await show({
      symbols: [
        {
          name: 's0',
          source: "L['x'].size()[0]",
          value: '8',
          range: '[2, 4096]',
          stack: [LINE],
          other_sources: ["L['x'].size()[1]"]
        },
        {
          name: 'u0',
          source: '',
          value: '',
          range: '',
          stack: [],
          other_sources: []
        }
      ]
    });
    expect(
      all('tbody tr').map(row =>
        [...row.children].map(cell => cell.textContent)
      )
    ).toEqual([
      [
        's0',
        "L['x'].size()[0], L['x'].size()[1]",
        '8',
        '[2, 4096]',
        'cell line 3'
      ],
      ['u0', 'unbacked', '', '', '']
    ]);
  });

  it('tells what was decided, where, with locals and the tree', async () => {
    await show({
      shape_decisions: [
        decision({
          kind: 'assumption',
          result: 'False',
          locals: { half: 's0//2' },
          provenance: 1
        })
      ],
      expressions: [
        expression('u0'),
        expression('2*u0 > 16', [0], {
          method: 'gt',
          arguments: ['2*u0', '16'],
          stack: [LINE]
        })
      ]
    });
    const [card] = all('article');
    expect(card.querySelector('h3')!.textContent).toBe('2*s0 > 16 = False');
    expect(card.textContent).toContain('assumed');
    expect(card.textContent).toContain('if total > 16:');
    expect(card.textContent).toContain('local halfs0//2');
    expect(all('li').map(element => element.textContent!.trim())).toEqual([
      '2*u0 > 16 gt(2*u0, 16) cell line 3',
      'u0 unbacked'
    ]);
    await click(all('.jp-Compilescope-source button')[0]);
    expect(context.reveal).toHaveBeenCalledWith({ file: FILE, line: 3 });
  });

  it('shows many a part at a time', async () => {
    await show({
      shape_decisions: Array.from({ length: 120 }, () => decision())
    });
    expect(all('article')).toHaveLength(50);
    const buttons = all('button');
    await click(buttons[buttons.length - 1]);
    expect(all('article')).toHaveLength(120);
  });

  it('says that no size is dynamic', async () => {
    await show({});
    expect(view.node.textContent).toContain('No dynamic sizes in 0/0');
  });

  it('shows all that torch and the user say as text', async () => {
    await show({
      symbols: [
        {
          name: HOSTILE,
          source: HOSTILE,
          value: HOSTILE,
          range: HOSTILE,
          stack: [],
          other_sources: [HOSTILE]
        }
      ],
      shape_decisions: [
        decision({
          expression: HOSTILE,
          sources: { [HOSTILE]: HOSTILE },
          locals: { [HOSTILE]: HOSTILE },
          provenance: 0
        })
      ],
      expressions: [expression(HOSTILE)]
    });
    expect(all('img')).toEqual([]);
    expect(all('h3')[0].textContent).toBe(HOSTILE);
  });
});
