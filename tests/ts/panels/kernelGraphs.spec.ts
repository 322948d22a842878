import { act } from 'react';
import { KernelsView } from '../../../src/panels/kernels';
import { report, variantSummary } from '../support/fakes';
import {
  compilationSummary,
  fullCompilation,
  kernelOf,
  launchOf
} from '../support/structs';
import {
  contextOf,
  drawn,
  pickedModel,
  viewStage,
  ViewModel
} from '../support/views';

const MM = kernelOf('extern_kernels.mm', { launches: [launchOf('launch:9')] });
const KERNELS: Record<string, (typeof MM)[]> = {
  '0/0': [kernelOf('cpp_fused_relu_0'), MM],
  '1/0': [],
  '2/0': [MM],
  '3/0': []
};

describe('kernels of several graphs', () => {
  let model: ViewModel;
  let view: KernelsView;
  let page: ReturnType<typeof viewStage>;
  const totals = () =>
    page.all('.jp-Compilescope-kernelTotals')[0].textContent!;
  const pick = async (id: string) => {
    act(() => {
      model.compilation = id;
    });
    await drawn();
  };

  beforeEach(async () => {
    // jsdom lays nothing out: a row has no height, and a table no width.
    jest
      .spyOn(HTMLElement.prototype, 'offsetHeight', 'get')
      .mockReturnValue(600);
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
    jest.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(900);
    page = viewStage();
    model = pickedModel();
    const compilations = Object.entries({ ...KERNELS, '3/0': [MM] }).map(
      ([id, { length }]) => compilationSummary({ id, kernels: length })
    );
    model.report = report('f', {
      variants: [variantSummary('python', {}, { compilations })]
    });
    model.getCompilation.mockImplementation((_, id: string) =>
      Promise.resolve(
        fullCompilation({
          id,
          kernels: KERNELS[id],
          absent: { kernels: 'Dropped to save memory.' }
        })
      )
    );
    view = new KernelsView(contextOf(model));
    await page.attach(view);
  });

  afterEach(() => {
    page.remove();
    jest.restoreAllMocks();
  });

  it('are listed together, and those that are not there named', () => {
    expect(totals()).toMatch(/^3 kernels, 2 launches/);
    expect(page.all('[role=columnheader]')[0].textContent).toBe('compilation');
    const rows = page.all('.jp-Compilescope-tableRow');
    expect(rows.map(row => row.firstChild!.textContent)).toEqual([
      ...['0/0 f', '0/0 f', '2/0 f']
    ]);
    expect(page.all('.jp-mod-first')).toEqual([rows[2]]);
    expect(view.node.textContent).toContain(
      'No kernels of 3/0: Dropped to save memory.'
    );
  });

  it('are read once, where a report grows with each compilation', async () => {
    const asked = () =>
      model.getCompilation.mock.calls.map(([, id]: [string, string]) => id);
    const grow = async () => {
      model.report = { ...model.report!, revision: model.report!.revision + 1 };
      model.getCompilation.mockClear();
      model.reportChanged.emit();
      await drawn();
    };
    await grow();
    expect(asked()).toEqual(['0/0', '2/0', '3/0']);
    const { subject } = model.report!;
    model.report = { ...model.report!, subject: { ...subject, kind: 'watch' } };
    await grow();
    await grow();
    expect(asked()).toEqual(['0/0']);
  });

  it('are read again where that failed', async () => {
    const read = model.getCompilation.getMockImplementation()!;
    let isLost = true;
    model.getCompilation.mockImplementation((...args: unknown[]) =>
      isLost && args[1] === '2/0'
        ? Promise.reject(new Error('The connection was lost.'))
        : read(...args)
    );
    model.report = { ...model.report!, revision: model.report!.revision + 1 };
    model.reportChanged.emit();
    await drawn();
    expect(totals()).toMatch(/^2 kernels/);
    expect(view.node.textContent).toContain('The connection was lost.');
    isLost = false;
    const again = page
      .all('button')
      .filter(({ textContent }) => textContent === 'Try again');
    expect(again).toHaveLength(1);
    model.getCompilation.mockClear();
    await page.click(again[0]);
    await drawn();
    expect(model.getCompilation.mock.calls.map(call => call[1])).toEqual([
      '2/0'
    ]);
    expect(totals()).toMatch(/^3 kernels/);
    expect(view.node.textContent).not.toContain('The connection was lost.');
  });

  it('are those of the graph that is picked for all views, until a link leads here', async () => {
    await pick('2/0');
    expect(totals()).toMatch(/^1 kernel, 1 launch/);
    await pick('1/0');
    expect(view.node.textContent).toContain('No kernels of 1/0');
    act(() => {
      model.showAllGraphs();
    });
    await drawn();
    expect(totals()).toMatch(/^3 kernels/);
  });

  it('turn other views to their graph, and stay listed', async () => {
    await page.click(page.all('.jp-Compilescope-tableRow')[2]);
    expect(model.compilation).toBe('2/0');
    expect(totals()).toMatch(/^3 kernels/);
    const selected = page.all('[aria-selected=true]');
    expect(selected.map(row => row.firstChild!.textContent)).toEqual(['2/0 f']);
  });
});
