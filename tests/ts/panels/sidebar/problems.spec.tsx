import { problem } from '../../../../src/protocol/client';
import type { Problem } from '../../../../src/protocol/types';
import { counted, job, overview, report } from '../../support/fakes';
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
    const cause = problem({
      what: 'a break',
      why: 'because',
      remedy: 'do this',
      detail: '<b>long</b>',
      where
    });
    const note = problem({ severity: 'info', what: 'a note' });
    page.show({
      report: report('f', {
        listed_problems: [cause, note].map(problem => ({
          problem,
          variants: []
        }))
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

  it('names the variants that have a problem', () => {
    const nothing = problem({ what: 'nothing compiled', remedy: 'Use `sum`.' });
    page.show({
      report: report('f', {
        listed_problems: [{ problem: nothing, variants: ['python', 'cpp'] }]
      })
    });
    const card = page.host.querySelector('article')!;
    expect(card.querySelector('.jp-Compilescope-tag')!.textContent).toBe(
      'python, cpp'
    );
    expect(card.querySelector('code')!.textContent).toBe('sum');
  });

  it('begins with the error of a job, unless the report has it', () => {
    const known = problem({ severity: 'warning', what: 'a warning' });
    const shown = () =>
      [...page.host.querySelectorAll('.jp-Compilescope-what')].map(
        element => element.textContent
      );
    const withError = (error: Problem) => ({
      job: job({ state: 'failed', variant: 'cpp', error }),
      report: report('f', {
        listed_problems: [{ problem: known, variants: [] }]
      })
    });
    page.show(withError(problem({ what: 'No compiler' })));
    expect(shown()).toEqual(['No compilercpp', 'a warning']);
    page.show(withError({ ...known }));
    expect(shown()).toEqual(['a warning']);
  });

  it('counts breaks, recompiles and settings that are not in effect', () => {
    const counts = [
      { ...counted('graph', 1, '1 graph'), warning: false },
      counted('recompiles', 3, '3 recompiles in the cell', 'in the cell')
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
