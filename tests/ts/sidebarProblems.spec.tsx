import { problem } from '../../src/protocol/client';
import { overview, report, variantSummary } from './fakes';
import { sidebarStage } from './sidebarSupport';

describe('The problems in the sidebar', () => {
  let page: ReturnType<typeof sidebarStage>;

  beforeEach(() => {
    page = sidebarStage();
  });

  afterEach(() => page.remove());

  it('shows the grave problems first, with cause, remedy and detail', () => {
    const where = {
      file: '/tmp/ipykernel_1/1.py',
      line: 2,
      function: 'f',
      code: 'print(x)'
    };
    page.show({
      report: report('f', {
        problems: [
          problem({ severity: 'info', what: 'a note' }),
          problem({
            what: 'a break',
            why: 'because',
            remedy: 'do this',
            detail: '<b>long</b>',
            where
          })
        ]
      })
    });
    const cards = [...page.host.querySelectorAll('article')];
    expect(
      cards.map(
        element =>
          element.querySelector('[role=img]')!.ariaLabel ??
          element.querySelector('[role=img]')!.getAttribute('aria-label')
      )
    ).toEqual(['Error', 'Note']);
    for (const text of ['a break', 'because', 'do this', '<b>long</b>']) {
      expect(cards[0].textContent).toContain(text);
    }
    expect(cards[0].querySelector('details')!.open).toBe(false);
    page.click(page.button('cell line 2'));
    expect(page.actions.goTo).toHaveBeenCalledWith(where);
  });

  it('shows what several variants have alike once', () => {
    const nothing = problem({ what: 'nothing compiled', remedy: 'Use `sum`.' });
    const python = variantSummary('python', {}, { problems: [nothing] });
    const cpp = variantSummary('cpp', {}, { problems: [{ ...nothing }] });
    page.show({ report: report('f', { variants: [python, cpp] }) });
    const cards = [...page.host.querySelectorAll('article')];
    expect(cards).toHaveLength(1);
    expect(cards[0].querySelector('.jp-Compilescope-tag')!.textContent).toBe(
      'python, cpp'
    );
    expect(cards[0].querySelector('code')!.textContent).toBe('sum');
    const other = variantSummary(
      'other',
      {},
      { problems: [{ ...nothing, why: 'because' }] }
    );
    page.show({ report: report('f', { variants: [python, cpp, other] }) });
    expect(page.host.querySelectorAll('article')).toHaveLength(2);
  });

  it('counts breaks, recompiles and settings that are not in effect', () => {
    const counts = [
      { text: '1 graph', view: 'graph', number: 1, warning: false, of: '' },
      {
        text: '3 recompiles in the cell',
        view: 'recompiles',
        number: 3,
        warning: true,
        of: 'in the cell'
      }
    ];
    page.show({ report: report('f', { overview: overview({ counts }) }) });
    const section = page.host.querySelector('.jp-mod-problems')!;
    expect(section.textContent).toBe('Problems13 recompiles in the cell');
    page.click(page.button('3 recompiles in the cell'));
    expect(page.actions.openView).toHaveBeenCalledWith(
      'recompiles',
      'in the cell'
    );
    page.show({
      report: report('f', { overview: overview({ counts: [counts[0]] }) })
    });
    expect(section.textContent).toContain('No errors or warnings.');
  });
});
