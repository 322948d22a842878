import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { SubjectModel } from '../../../../src/model/subject';
import { ReportShell } from '../../../../src/panels/shell';
import type { IView, IViewContext, ViewId } from '../../../../src/panels/views';
import { resolve } from '../../../../src/panels/views';
import {
  counted,
  FakeConnection,
  report,
  subjectSummary,
  variantSummary
} from '../../support/fakes';
import { compilationSummary } from '../../support/structs';

const trans = nullTranslator.load('jupyterlab_compilescope');

/**
 * Let React and promises take their turns.
 */
async function turn(): Promise<void> {
  for (let count = 0; count < 5; count++) {
    await new Promise(resolve => setTimeout(resolve));
  }
  MessageLoop.flush();
}

describe('ReportShell', () => {
  let model: SubjectModel;
  let connection: FakeConnection;
  let shell: ReportShell;
  let create: jest.Mock<Promise<Widget>, [ViewId, IViewContext]>;
  const contexts = new Map<ViewId, IViewContext>();

  beforeEach(async () => {
    globalThis.ResizeObserver ??= class {
      observe() {}
      unobserve() {}
      disconnect() {}
    };
    contexts.clear();
    connection = new FakeConnection();
    model = new SubjectModel();
    model.connection = connection;
    create = jest.fn((id, context) => {
      contexts.set(id, context);
      const widget = new Widget();
      widget.node.textContent = `this is ${id}`;
      return Promise.resolve(widget);
    });
    const view = (id: ViewId, more: Partial<IView> = {}): IView => ({
      id,
      group: 'result',
      label: () => id,
      caption: () => id,
      ...more
    });
    shell = new ReportShell({
      load: create,
      views: [
        view('code'),
        view('guards', {
          group: 'causes',
          about: ['breaks'],
          lists: 'guards'
        }),
        view('recompiles', {
          group: 'causes',
          about: ['recompile'],
          nothing: () => 'Nothing was compiled again'
        }),
        view('memory', { group: 'more' }),
        view('autotune', {
          group: 'more',
          about: ['autotunings'],
          isTabWhenFilled: true
        })
      ],
      context: {
        model,
        trans,
        translator: nullTranslator,
        reveal: null,
        languages: {} as never
      }
    });
    Widget.attach(shell, document.body);
    connection.event.emit({
      event: 'subjects_changed',
      data: { subjects: [subjectSummary('f')], focus: 'f', offer: null }
    });
    const compilations = [
      // One of the two breaks was met once more.
      compilationSummary({ breaks: 3, guards: 2 }),
      compilationSummary({
        id: '0/1',
        guards: 3,
        recompile: ['a size changed']
      })
    ];
    await connection.answer(
      'get_report',
      report('f', {
        variants: [
          variantSummary(
            'python',
            {},
            {
              compilations,
              recompile_count: counted('recompiles', 1, '1 recompile'),
              break_count: counted('breaks', 2, '2 graph breaks'),
              filled: ['breaks']
            }
          )
        ]
      })
    );
    await turn();
  });

  afterEach(() => {
    shell.dispose();
    model.dispose();
  });

  const tabs = () => [
    ...shell.node.querySelectorAll<HTMLElement>('[role=tab]')
  ];
  const text = () =>
    [...shell.node.querySelectorAll('[role=tabpanel]')]
      .filter(node => !node.classList.contains('lm-mod-hidden'))
      .map(node => node.textContent)
      .join();

  it('makes only the view that is open', async () => {
    expect(create.mock.calls.map(([id]) => id)).toEqual(['code']);
    expect(text()).toBe('this is code');
    tabs()[1].click();
    await turn();
    expect(create.mock.calls.map(([id]) => id)).toEqual(['code', 'guards']);
    expect(text()).toBe('this is guards');
    shell.view = 'code';
    await turn();
    expect(create).toHaveBeenCalledTimes(2);
  });

  it('keeps tabs that find no room in the menu, not in a second line', async () => {
    const row = tabs()[0].parentElement!.parentElement!;
    Object.defineProperty(row, 'clientWidth', { value: 520 });
    const top = jest
      .spyOn(HTMLElement.prototype, 'offsetTop', 'get')
      .mockImplementation(function (this: HTMLElement) {
        const shown = tabs().filter(tab => !tab.hidden);
        return shown.indexOf(this) < 2 ? 0 : 31;
      });
    const shown = () =>
      tabs()
        .filter(tab => !tab.hidden)
        .map(tab => tab.textContent);
    shell.view = 'recompiles';
    await turn();
    expect(shown()).toEqual(['code', expect.stringContaining('recompiles')]);
    shell.node.querySelector<HTMLElement>('[aria-haspopup=menu]')!.click();
    const menu = document.querySelector('.lm-Menu')!;
    expect(menu.textContent).toContain('guards');
    top.mockRestore();
  });

  it('has one tab in the page’s order, and ties it to its panel', async () => {
    shell.view = 'recompiles';
    await turn();
    expect(tabs().map(element => element.tabIndex)).toEqual([-1, -1, 0]);
    expect(
      tabs().map(element => element.getAttribute('aria-selected'))
    ).toEqual(['false', 'false', 'true']);
    const panel = document.getElementById(
      tabs()[2].getAttribute('aria-controls')!
    );
    expect(panel?.getAttribute('aria-labelledby')).toBe(tabs()[2].id);
  });

  it('walks along the tabs by key without opening them', async () => {
    const press = (key: string) =>
      document.activeElement!.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
      );
    tabs()[0].focus();
    press('ArrowLeft');
    expect(document.activeElement).toBe(tabs()[2]);
    press('Home');
    press('ArrowRight');
    expect(document.activeElement).toBe(tabs()[1]);
    expect(shell.view).toBe('code');
    expect(create).toHaveBeenCalledTimes(1);
  });

  it('counts what calls for a look', () => {
    expect(tabs().map(element => element.textContent)).toEqual([
      'code',
      'guards',
      'recompiles3, 1 recompile, 2 graph breaks'
    ]);
  });

  it('has a tab for what is under More while it is open, or holds something', async () => {
    const names = () =>
      tabs().map(element => element.textContent!.match(/^\D+/)![0]);
    const usual = ['code', 'guards', 'recompiles'];
    expect(names()).toEqual(usual);
    shell.open('memory');
    await turn();
    expect(names()).toEqual([...usual, 'memory']);
    expect(text()).toBe('this is memory');
    shell.open('code');
    await turn();
    expect(names()).toEqual(usual);
    connection.event.emit({
      event: 'report_changed',
      data: { subject: 'f', variants: ['python'], revision: 2 }
    });
    await connection.answer(
      'get_report',
      report('f', {
        revision: 2,
        variants: [variantSummary('python', {}, { filled: ['autotunings'] })]
      })
    );
    await turn();
    expect(names()).toEqual([...usual, 'autotune']);
  });

  it('opens a section by the name that it had as a view', async () => {
    const shown = jest.fn();
    create.mockImplementation(() =>
      Promise.resolve(Object.assign(new Widget(), { showSection: shown }))
    );
    shell.open('breaks');
    await turn();
    expect(shell.view).toBe('recompiles');
    expect(shown.mock.calls).toEqual([['breaks']]);
    shell.open('recompiles');
    expect(shown.mock.calls[1]).toEqual(['recompiles']);
  });

  it('knows no view by the name of something else', () => {
    expect(resolve('code')).toEqual({ view: 'code', section: 'code' });
    for (const name of ['constructor', 'toString', undefined]) {
      expect(resolve(name)).toBeNull();
    }
  });

  it('dims what has nothing to show, and says why', async () => {
    const dim = () =>
      tabs()
        .filter(element => element.classList.contains('jp-mod-nothing'))
        .map(element => element.title);
    expect(dim()).toEqual(['recompiles. Nothing was compiled again.']);
    connection.event.emit({
      event: 'report_changed',
      data: { subject: 'f', variants: ['python'], revision: 2 }
    });
    await connection.answer(
      'get_report',
      report('f', {
        revision: 2,
        variants: [variantSummary('python', {}, { filled: ['recompile'] })]
      })
    );
    await turn();
    expect(dim()).toEqual(['guards. It is empty.']);
  });

  it('tells a hidden view nothing until it is shown again, and then once', async () => {
    const listener = jest.fn();
    const seen = contexts.get('code')!.model;
    seen.compilationChanged.connect((sender, id) => listener(sender, id));
    model.compilation = '0/1';
    expect(listener.mock.calls).toEqual([[seen, '0/1']]);
    shell.view = 'guards';
    model.compilation = '0/0';
    model.compilation = '0/1';
    model.compilation = '0/0';
    expect(listener).toHaveBeenCalledTimes(1);
    expect(seen.compilation).toBe('0/0');
    shell.view = 'code';
    expect(listener.mock.calls.slice(1)).toEqual([[seen, '0/0']]);
  });

  it('passes what a view does on to the model', () => {
    const seen = contexts.get('code')!.model;
    seen.select({ key: 'launch:1' });
    expect(model.selection.key).toBe('launch:1');
    seen.compilation = '0/1';
    expect(model.compilation).toBe('0/1');
  });

  it('says why a view could not be opened, and tries again', async () => {
    create.mockRejectedValueOnce(new Error('no such chunk'));
    shell.view = 'guards';
    await turn();
    expect(text()).toContain('“guards” could not be opened');
    expect(text()).toContain('no such chunk');
    const [again] = shell.node.querySelectorAll<HTMLElement>(
      '[role=tabpanel] button'
    );
    again.click();
    await turn();
    expect(text()).toBe('this is guards');
  });

  it('lets a view turn to another one', () => {
    const listener = jest.fn();
    shell.viewChanged.connect((_, view) => listener(view));
    contexts.get('code')!.open('recompiles');
    expect(shell.view).toBe('recompiles');
    expect(listener.mock.calls).toEqual([['recompiles']]);
  });

  it('says that the open view shows all graphs, and offers them', async () => {
    Widget.attach(shell.pickers, document.body);
    const picker = async () => {
      await turn();
      return shell.pickers.node.querySelectorAll('select')[1];
    };
    expect((await picker()).value).toBe('0/0');
    shell.view = 'guards';
    const shown = await picker();
    expect(shown.selectedOptions[0].textContent).toBe('all 2 with guards');
    model.compilation = '0/0';
    expect((await picker()).value).toBe('0/0');
    shown.value = '';
    shown.dispatchEvent(new Event('change', { bubbles: true }));
    expect(model.hasAllGraphs).toBe(true);
    model.showAllGraphs('0/1');
    expect((await picker()).value).toBe('');
    expect(model.compilation).toBe('0/1');
  });

  it('offers the variants and compilations of the report', async () => {
    Widget.attach(shell.pickers, document.body);
    await turn();
    const [, compilation] = shell.pickers.node.querySelectorAll('select');
    expect([...compilation.options].map(option => option.textContent)).toEqual([
      '0/0 · f',
      '0/1 · f · recompile'
    ]);
    compilation.value = '0/1';
    compilation.dispatchEvent(new Event('change', { bubbles: true }));
    expect(model.compilation).toBe('0/1');
    expect(shell.pickers.node.textContent).toContain('Variant');
    Object.assign(model.report!, { trace: { processes: [] } });
    shell.pickers.update();
    await turn();
    expect(shell.pickers.node.textContent).toContain('Process');
    expect(shell.pickers.node.textContent).not.toContain('Variant');
  });
});
