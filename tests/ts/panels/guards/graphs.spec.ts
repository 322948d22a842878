import { act } from 'react';
import { GuardsView } from '../../../../src/panels/guards';
import { conditionsOf } from '../../../../src/panels/guards/conditionRows';
import { report, variantSummary } from '../../support/fakes';
import { compilationSummary, fullCompilation } from '../../support/structs';
import type { ViewModel } from '../../support/views';
import { contextOf, drawn, pickedModel, viewStage } from '../../support/views';
import { guardOf, managerOf } from './guardSupport';

const CONDITION = { name: 'x', requirement: 'float32[8]', failed: false };
const COMPILATIONS = ['0/0', '1/0'].map(id =>
  fullCompilation({
    id,
    guards: [
      guardOf({ expression: `first of ${id}`, manager: 0 }),
      guardOf({ expression: `second of ${id}`, manager: 0 })
    ],
    guard_tree: [managerOf({ kind: 'RootGuardManager', cost_ns: 40 })],
    conditions: [{ ...CONDITION, guard: 1 }]
  })
);

describe('guards of several graphs', () => {
  let model: ViewModel;
  let page: ReturnType<typeof viewStage>;
  const rows = () =>
    page.all('.jp-Compilescope-tableRow').map(row => row.textContent);
  const summary = () =>
    page.all('.jp-Compilescope-guardSummary')[0].textContent;

  beforeEach(async () => {
    // jsdom lays nothing out: a row has no height.
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(480);
    page = viewStage();
    model = pickedModel();
    const compilations = COMPILATIONS.map(({ id, guards }) =>
      compilationSummary({ id, guards: guards.length })
    );
    model.report = report('f', {
      variants: [variantSummary('python', {}, { compilations })]
    });
    model.getCompilation.mockImplementation((_, id: string) =>
      Promise.resolve(COMPILATIONS.find(each => each.id === id))
    );
    await page.attach(new GuardsView(contextOf(model)));
    await drawn();
  });

  afterEach(() => {
    page.remove();
    jest.restoreAllMocks();
  });

  it('are listed below the graphs, with the sum', () => {
    expect(summary()).toMatch(
      /^4 guards\s*of 2 compilations.*80 ns to check all/
    );
    expect(rows().map(text => /of \d\/0|\d\/0 · f/.exec(text!)![0])).toEqual([
      ...['0/0 · f', 'of 0/0', 'of 0/0', '1/0 · f', 'of 1/0', 'of 1/0']
    ]);
    // A condition of both graphs is named once.
    expect(page.all('.jp-Compilescope-guardAnswer dt')).toHaveLength(1);
  });

  it('are shown of a graph that is picked for all views', async () => {
    act(() => {
      model.compilation = '1/0';
    });
    await drawn();
    expect(summary()).toMatch(/^2 guards.*40 ns a call/);
    expect(rows().join()).not.toContain('of 0/0');
  });

  it('turn other views to their graph, and stay listed', async () => {
    await page.click(page.all('.jp-Compilescope-tableRow')[5]);
    expect(model.compilation).toBe('1/0');
    expect(page.all('.jp-Compilescope-guardDetails')[0].textContent).toContain(
      'second of 1/0'
    );
    expect(summary()).toMatch(/^4 guards/);
  });
});

describe('conditions of several compilations', () => {
  const of = (requirements: readonly string[]) =>
    conditionsOf(
      requirements.map((requirement, frame) =>
        fullCompilation({
          id: `${frame}/0`,
          guards: [guardOf()],
          conditions: [{ ...CONDITION, requirement, guard: 0 }]
        })
      )
    ).map(({ requirement, compilations }) => [requirement, ...compilations]);

  it('name theirs where another has the same name', () => {
    expect(of(['float32[8]', 'float32[4]', 'float32[8]'])).toEqual([
      ['float32[8]', '0/0', '2/0'],
      ['float32[4]', '1/0']
    ]);
    expect(of(['float32[8]', 'float32[8]'])).toEqual([['float32[8]']]);
  });
});
