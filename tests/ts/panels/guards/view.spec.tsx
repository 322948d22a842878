import { act } from 'react';
import { GuardsView } from '../../../../src/panels/guards';
import { problem, RequestError } from '../../../../src/protocol/client';
import type {
  Compilation,
  GuardOutcome,
  VariantSummary,
  WhatIfResult
} from '../../../../src/protocol/types';
import { guardOf, manyGuards } from './guardSupport';
import { report, variantSummary } from '../../support/fakes';
import { fullCompilation, linked, selection } from '../../support/structs';
import {
  contextOf,
  drawn,
  HOSTILE,
  ViewModel,
  viewStage
} from '../../support/views';

describe('GuardsView', () => {
  let model: ViewModel & { whatIf: jest.Mock };
  let view: GuardsView;
  let context: ReturnType<typeof contextOf>;
  let height: jest.SpyInstance;

  const { all, attach, click, remove } = viewStage();
  const rows = () => all('.jp-Compilescope-tableRow').map(e => e.textContent);
  const choose = async (label: string, value: string) => {
    const field = all('label').find(element =>
      element.textContent!.startsWith(label)
    );
    const select = field!.querySelector('select')!;
    await act(async () => {
      select.value = value;
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await drawn();
  };
  const type = (input: HTMLInputElement, text: string) =>
    act(async () => {
      Object.getOwnPropertyDescriptor(
        HTMLInputElement.prototype,
        'value'
      )!.set!.call(input, text);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
  const ask = async (args: string) => {
    const [input] = all('.jp-Compilescope-call input') as HTMLInputElement[];
    await type(input, args);
    await act(async () => {
      input.form!.dispatchEvent(
        new Event('submit', { bubbles: true, cancelable: true })
      );
    });
    await drawn();
  };

  async function show(compilation: Compilation): Promise<void> {
    model.getCompilation.mockResolvedValue(compilation);
    view = new GuardsView(context);
    await attach(view);
  }

  beforeEach(() => {
    height = jest
      .spyOn(Element.prototype, 'clientHeight', 'get')
      .mockReturnValue(480);
    model = Object.assign(new ViewModel(), { whatIf: jest.fn() });
    context = contextOf(model);
  });
  afterEach(() => {
    remove();
    height.mockRestore();
  });

  it('says which guards are not known yet', async () => {
    const lacking = 'Guards that code generation adds are not included.';
    await show(
      fullCompilation({
        guards: [guardOf()],
        absent: { added_guards: lacking }
      })
    );
    expect(all('.jp-Compilescope-guardSummary')[0].textContent).toContain(
      lacking
    );
  });

  it('begins with what would make the call recompile', async () => {
    const inputs = Array.from({ length: 10 }, (_, guard) => ({
      name: `x${guard}`,
      requirement: 'float32[8]',
      guard,
      failed: guard === 0
    }));
    const group = { name: '2 weights', requirement: 'the same', guard: null };
    const { guards } = manyGuards(10);
    await show(
      fullCompilation({
        guards,
        conditions: [...inputs, { ...group, failed: false }]
      })
    );
    const [answer] = all('.jp-Compilescope-guardAnswer');
    const names = () =>
      [...answer.querySelectorAll('dt')].map(element => element.textContent);
    expect(names()).toEqual([
      ...inputs.slice(0, 8).map(({ name }) => name),
      '2 weights'
    ]);
    expect(answer.querySelector('dd')!.textContent).toBe(
      'float32[8]has failed'
    );
    await click([...answer.querySelectorAll('button')].at(-1)!);
    expect(names()).toHaveLength(11);
    await click(answer.querySelectorAll('dt button')[3]);
    expect(all('.jp-Compilescope-guardDetails')[0].textContent).toContain(
      guards[3].expression
    );
  });

  it('has the least time of all guards, and why a call takes longer', async () => {
    await show(manyGuards(70));
    const [cost] = all('.jp-Compilescope-guardSummary [title]');
    expect(cost.textContent).toContain('at least 70 ns a call');
    expect(cost.getAttribute('title')).toContain('twice as long or more');
  });

  it('names what to pick for guards only where there is such', async () => {
    const failed = (name: string) =>
      variantSummary(name, {}, { stage: 'failed' });
    const absent = { guards: 'torch.compile failed: No compiler.' };
    const shown = async (...variants: VariantSummary[]) => {
      model.report = report('f', { variants });
      await show(fullCompilation({ absent }));
      const { textContent } = view.node;
      view.dispose();
      return textContent;
    };
    const alone = await shown(failed('python'), failed('cpp'));
    expect(alone).toContain('torch.compile failed: No compiler.');
    expect(alone).not.toContain('Pick another');
    expect(await shown(failed('python'), variantSummary('cpp'))).toContain(
      'Pick another variant above.'
    );
    const two = variantSummary('python', {}, { stage: 'failed' });
    two.compilations.push({ ...two.compilations[0], id: '0/1' });
    expect(await shown(two)).toContain('Pick another compilation above.');
  });

  it('draws what is in sight of 5,000 guards', async () => {
    await show(manyGuards(5000));
    expect(model.getCompilation).toHaveBeenCalledWith('python', '0/0', [
      'guards'
    ]);
    expect(view.node.textContent).toContain('5,000 guards');
    expect(all('[role=treeitem]').length).toBeLessThan(60);
    await choose('Show as', 'table');
    const [grid] = all('[role=grid]');
    expect(grid.getAttribute('aria-rowcount')).toBe('5001');
    expect(rows().length).toBeLessThan(60);
  });

  it('chooses a guard: its line is selected, and all about it shown', async () => {
    await show(manyGuards(10));
    await click(
      all('[role=treeitem]').find(e =>
        e.textContent!.includes('layers.0.weight')
      )!
    );
    expect(model.select).toHaveBeenCalledWith({
      source: { file: '/tmp/ipykernel_1/1.py', line: 1 },
      origin: view
    });
    const [details] = all('.jp-Compilescope-guardDetails');
    expect(details.textContent).toContain('GetAttrGuardAccessor(0)');
    expect(details.textContent).toContain('checked in C++');
  });

  it('marks what comes from the selected line, and shows only that', async () => {
    await show(manyGuards(40));
    const why = () =>
      all('label').find(e => e.textContent!.startsWith('Selected line only'))!
        .title;
    expect(why()).toContain('No line is selected');
    model.selection = selection({
      source: { file: '/tmp/ipykernel_1/1.py', line: 9999 }
    });
    model.selectionChanged.emit();
    await drawn();
    expect(why()).toBe('No guard comes from the selected line');
    model.selection = selection({
      source: { file: '/tmp/ipykernel_1/1.py', line: 3 }
    });
    model.selectionChanged.emit();
    await drawn();
    const [check] = all('label').filter(e =>
      e.textContent!.startsWith('Selected line only (6)')
    );
    expect(all('.jp-mod-marked')).toHaveLength(2);
    await click(check.querySelector('input')!);
    expect(all('[role=treeitem][aria-level="3"]')).toHaveLength(6);
  });

  it('brings what a selection elsewhere means into sight', async () => {
    await show(
      fullCompilation({
        guards: Array.from({ length: 900 }, (_, index) =>
          guardOf({
            expression: `g${index}`,
            origin: { file: 'a.py', line: index, function: '', code: '' }
          })
        )
      })
    );
    await choose('Show as', 'table');
    const [grid] = all('[role=grid]');
    Object.defineProperty(grid, 'scrollHeight', { value: 900 * 24 });
    model.linked = linked({ sources: [{ file: 'a.py', line: 600 }] });
    model.linkedChanged.emit();
    await drawn();
    expect(grid.scrollTop).toBeGreaterThan(500 * 24);
  });

  it('flags what is checked in Python, with why', async () => {
    await show(
      fullCompilation({
        guards: [guardOf({ language: 'python', why: 'A lambda.' })]
      })
    );
    const [badge] = all('.jp-Compilescope-tree .jp-Compilescope-badge');
    expect(badge.textContent).toBe('Python');
    expect(badge.title).toContain('GIL');
    expect(badge.title).toContain('A lambda.');
  });

  it('says where torch has no text for a guard', async () => {
    await show(fullCompilation({ guards: [guardOf({ expression: '' })] }));
    const [absent] = all('.jp-Compilescope-tree .jp-Compilescope-absent');
    expect(absent.title).toContain('no text');
  });

  it('says why there are none', async () => {
    await show(
      fullCompilation({ absent: { guards: 'the frame was skipped' } })
    );
    expect(view.node.textContent).toContain('the frame was skipped');
  });

  const failing: GuardOutcome = {
    compilation: '0/1',
    passes: false,
    guard: guardOf({ expression: HOSTILE }),
    place: 4,
    expected: '8',
    actual: '2',
    message: 'size mismatch'
  };
  const whatIfOf = (change: Partial<WhatIfResult> = {}): WhatIfResult => ({
    arguments: ['x: float32[2] cpu'],
    verdict: 'recompile',
    title: 'Recompiles',
    text: 'No compilation matches; this call would recompile.',
    reuses: '',
    outcomes: [failing],
    why: '',
    ...change
  });

  it('asks what would happen, and goes to the guard that fails', async () => {
    await show(manyGuards(40));
    model.whatIf.mockResolvedValue(whatIfOf());
    await ask(' x[:2] ');
    expect(model.whatIf).toHaveBeenCalledWith('python', 'x[:2]');
    const [answer] = all('.jp-Compilescope-answer');
    expect(answer.textContent).toContain('Recompiles');
    expect(all('td').map(element => element.textContent)).toEqual([
      HOSTILE,
      '8',
      '2'
    ]);
    expect(all('img')).toEqual([]);
    model.getCompilation.mockResolvedValue({ ...manyGuards(40), id: '0/1' });
    await click(answer.querySelector('td button')!);
    expect(model.compilation).toBe('0/1');
    model.compilationChanged.emit();
    await drawn();
    expect(all('[aria-selected=true]')[0].textContent).toContain(
      'layers.2.weight'
    );
  });

  it.each([
    ['reuse', 'good'],
    ['recompile', 'warning'],
    ['limit', 'error'],
    ['eager', 'warning'],
    ['error', 'error'],
    ['unknown', 'info']
  ] as const)(
    'shows the verdict %s as the kernel words it',
    async (verdict, kind) => {
      await show(manyGuards(4));
      model.whatIf.mockResolvedValue(
        whatIfOf({
          verdict,
          title: 'A title',
          text: 'A sentence.',
          why: 'A reason.'
        })
      );
      await ask('x');
      const [title] = all('.jp-Compilescope-answer .jp-Compilescope-badge');
      expect(title.className).toContain(`jp-mod-${kind}`);
      expect(all('.jp-Compilescope-answer p').map(p => p.textContent)).toEqual([
        'A title A sentence.',
        'A reason.',
        'Called with x: float32[2] cpu'
      ]);
    }
  );

  it('shows an error of the expression as one, and keeps earlier tries', async () => {
    await show(manyGuards(4));
    model.whatIf.mockResolvedValueOnce(whatIfOf());
    await ask('x');
    model.whatIf.mockRejectedValueOnce(
      new RequestError(problem({ what: 'y is not in the notebook.' }), 'reply')
    );
    await ask('y');
    expect(all('.jp-Compilescope-answer')[0].textContent).toContain(
      'y is not in the notebook.'
    );
    const [earlier] = all('.jp-Compilescope-earlier');
    expect(earlier.textContent).toContain('1 earlier try');
    expect(earlier.textContent).toContain('Recompiles');
  });

  it('takes the text that is selected in the notebook', async () => {
    (context as { selectedText?: () => string }).selectedText = () =>
      'batch[:2],\n  rate';
    await show(manyGuards(4));
    const button = all('button').find(
      element => element.textContent === 'Use the selection'
    );
    await click(button!);
    const [input] = all('.jp-Compilescope-call input') as HTMLInputElement[];
    expect(input.value).toBe('batch[:2], rate');
    await click(all('.jp-Compilescope-argument')[0]);
    expect(input.value).toBe('batch[:2], rate, x');
  });

  it('cannot ask in a report from a file, and says so', async () => {
    model.isLive = false;
    await show(manyGuards(4));
    const [input] = all('.jp-Compilescope-call input') as HTMLInputElement[];
    expect(input.disabled).toBe(true);
    expect(view.node.textContent).toContain('it is not connected');
  });
});
