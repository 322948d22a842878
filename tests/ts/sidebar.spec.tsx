import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { act } from 'react';
import type { Root } from 'react-dom/client';
import { createRoot } from 'react-dom/client';
import { NO_CHOICES } from '../../src/model/variants';
import type {
  ISidebarActions,
  ISidebarState
} from '../../src/panels/sidebar/types';
import { SidebarBody } from '../../src/panels/sidebar/body';
import { problem } from '../../src/protocol/client';
import type { Overview, TraceSummary } from '../../src/protocol/types';
import { speedup } from './measured';
import {
  job,
  overview,
  report,
  subjectSummary,
  variant,
  variantSummary
} from './fakes';

describe('SidebarBody', () => {
  let host: HTMLElement;
  let root: Root;
  let actions: jest.Mocked<ISidebarActions>;
  const trans = nullTranslator.load('jupyterlab_compilescope');

  beforeEach(() => {
    (globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;
    host = document.body.appendChild(document.createElement('div'));
    root = createRoot(host);
    actions = {
      selectSubject: jest.fn(),
      setRequested: jest.fn(),
      showVariant: jest.fn(),
      goTo: jest.fn(),
      run: jest.fn(),
      goOn: jest.fn(),
      cancel: jest.fn(),
      runAgain: jest.fn(),
      openView: jest.fn(),
      save: jest.fn(),
      forget: jest.fn(),
      pinTier: jest.fn(),
      setWatch: jest.fn(),
      showWatched: jest.fn(),
      load: jest.fn(),
      retry: jest.fn()
    };
  });

  afterEach(() => {
    act(() => root.unmount());
    host.remove();
  });

  function show(change: Partial<ISidebarState> = {}): void {
    const state: ISidebarState = {
      isLive: true,
      isKept: false,
      earlier: [],
      canRunAgain: false,
      status: { kind: 'ready' },
      subjects: [subjectSummary('f'), subjectSummary('g')],
      subject: 'f',
      choices: {
        ...NO_CHOICES,
        backends: ['eager', 'inductor'],
        modes: ['default', 'max-autotune']
      },
      report: report('f'),
      sides: { left: 'python', right: 'cpp' },
      requested: variant(),
      pending: false,
      job: null,
      jobSince: 0,
      problem: null,
      watch: null,
      tiers: [],
      compilation: '0/0',
      ...change
    };
    act(() =>
      root.render(<SidebarBody state={state} actions={actions} trans={trans} />)
    );
  }

  const blank = { subjects: [], subject: null, report: null };
  const button = (text: string) =>
    [...host.querySelectorAll('button')].find(
      element =>
        element.textContent === text ||
        element.ariaLabel === text ||
        element.getAttribute('aria-label') === text
    )!;
  const click = (element: Element) =>
    act(() => {
      element.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    });
  const choose = (select: HTMLSelectElement, value: string) =>
    act(() => {
      select.value = value;
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });

  it('lists the processes of a trace, and no column without a figure', () => {
    const trace = {
      processes: [
        {
          name: 'rank 0',
          compilations: 3,
          recompiles: 2,
          graph_breaks: 0,
          failures: 0,
          compile_time_s: 0.25,
          unfinished: [],
          caches: {},
          problems: []
        }
      ]
    } as unknown as TraceSummary;
    show({ isLive: false, report: { ...report('f'), trace } });
    const section = host.querySelector('.jp-mod-processes')!;
    expect(section.textContent).toContain(
      '3 compilations · 250 ms · 2 recompiles'
    );
    expect(host.textContent).not.toContain('over eager');
    click(button('rank 0'));
    expect(actions.showVariant).toHaveBeenCalledWith('rank 0');
  });

  it.each([
    ['none', 'No kernel'],
    ['connecting', 'Connecting'],
    ['busy', 'Kernel busy, queued'],
    ['missing', 'pip install jupyterlab-compilescope'],
    ['unloaded', 'Load compilescope'],
    ['dead', 'The kernel is gone'],
    ['ready', '%%compile']
  ] as const)('says what is when there is nothing: %s', (kind, text) => {
    show({ ...blank, status: { kind } });
    expect(host.textContent).toContain(text);
  });

  it('asks a kernel that loaded the extension for a cell alone', () => {
    show({ ...blank, status: { kind: 'ready' } });
    expect(host.textContent).not.toContain('%load_ext');
  });

  it('marks the subjects of a kernel before this one', () => {
    const rows = () =>
      [...host.querySelectorAll('.jp-Compilescope-subject')].map(row =>
        row.textContent!.includes('from before the restart')
      );
    show();
    expect(rows()).toEqual([false, false]);
    show({ earlier: ['g'] });
    expect(rows()).toEqual([false, true]);
    show({ earlier: ['f', 'g'], status: { kind: 'dead' } });
    expect(host.textContent).toContain('its kernel is gone');
  });

  it('names the language that is not Python', () => {
    show({ ...blank, status: { kind: 'unsupported', language: 'R' } });
    expect(host.textContent).toContain('R');
  });

  it('shows an error with its remedy, and tries again', () => {
    const silence = problem({ what: 'silence', remedy: 'restart' });
    show({ ...blank, status: { kind: 'error', problem: silence } });
    expect(host.textContent).toContain('silence');
    expect(host.textContent).toContain('restart');
    click(button('Try again'));
    expect(actions.retry).toHaveBeenCalled();
  });

  it('loads the extension', () => {
    show({ ...blank, status: { kind: 'unloaded' } });
    click(button('Load compilescope'));
    expect(actions.load).toHaveBeenCalled();
  });

  it('keeps the last report of a dead kernel, and says so', () => {
    show({ status: { kind: 'dead' } });
    expect(host.querySelector('[role=status]')!.textContent).toContain('gone');
    expect(host.querySelectorAll('tbody tr')).toHaveLength(3);
    expect(button('Build and time').hasAttribute('disabled')).toBe(true);
    expect(host.querySelector('fieldset')!.disabled).toBe(true);
  });

  it('says that the report is on its way', () => {
    show({ report: null });
    expect(host.textContent).toContain('Getting the report');
  });

  it('lists the subjects as options, and moves by keys', () => {
    show();
    const options = [...host.querySelectorAll('[role=option]')];
    expect(
      options.map(element => element.getAttribute('aria-selected'))
    ).toEqual(['true', 'false']);
    act(() => {
      options[0].dispatchEvent(
        new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true })
      );
    });
    expect(actions.selectSubject).toHaveBeenCalledWith('g');
  });

  it('flips each switch', () => {
    show();
    click(host.querySelector('[name=cpp_wrapper]')!);
    expect(actions.setRequested).toHaveBeenLastCalledWith({
      cpp_wrapper: true
    });
    click(host.querySelector('[name=fullgraph]')!);
    expect(actions.setRequested).toHaveBeenLastCalledWith({ fullgraph: true });
    choose(host.querySelector('[name=mode]')!, 'max-autotune');
    expect(actions.setRequested).toHaveBeenLastCalledWith({
      mode: 'max-autotune'
    });
    choose(host.querySelector('[name=backend]')!, 'eager');
    expect(actions.setRequested).toHaveBeenLastCalledWith({ backend: 'eager' });
    const [auto, on, off] = host.querySelectorAll<HTMLInputElement>(
      '[role=radiogroup] input'
    );
    expect(auto.checked).toBe(true);
    click(on);
    expect(actions.setRequested).toHaveBeenLastCalledWith({ dynamic: true });
    click(off);
    expect(actions.setRequested).toHaveBeenLastCalledWith({ dynamic: false });
  });

  it('goes back to the default mode by its torch name', () => {
    show({ requested: variant({ mode: 'max-autotune' }) });
    choose(host.querySelector('[name=mode]')!, 'default');
    expect(actions.setRequested).toHaveBeenLastCalledWith({ mode: null });
  });

  it('gives the reason why there is no target to choose', () => {
    show();
    const target = host.querySelector<HTMLSelectElement>('[name=target]')!;
    expect(target.disabled).toBe(true);
    expect(host.textContent).toContain('No other target devices');
    show({
      choices: { ...NO_CHOICES, targets: ['cuda:sm_90'] }
    });
    expect(target.disabled).toBe(false);
  });

  it('disables Inductor’s switches under another backend', () => {
    show({ requested: variant({ backend: 'eager' }) });
    const disabled = (name: string) =>
      host.querySelector<HTMLInputElement>(`[name=${name}]`)!.disabled;
    expect(
      ['cpp_wrapper', 'mode', 'fullgraph', 'backend'].map(disabled)
    ).toEqual([true, true, false, false]);
  });

  it('shows what was measured', () => {
    show({
      report: report('f', {
        variants: [
          variantSummary(
            'eager',
            { backend: null },
            { median_us: 30, interval_us: [29, 31], stage: 'built' }
          ),
          variantSummary(
            'cpp',
            { cpp_wrapper: true },
            {
              stage: 'built',
              median_us: 12.34,
              interval_us: [12.1, 12.6],
              speedup: speedup('faster', '2.43× faster'),
              compile_s: 4.2,
              accurate: true
            }
          ),
          variantSummary('bad', {}, { stage: 'built', accurate: false })
        ]
      })
    });
    const [eager, cpp, bad] = host.querySelectorAll('tbody tr');
    expect(eager.textContent).toContain('baseline');
    for (const text of [
      '12.3 µs',
      '12.1–12.6 µs',
      '2.43× faster',
      '4.20 s',
      '✓'
    ]) {
      expect(cpp.textContent).toContain(text);
    }
    expect(bad.textContent).toContain('✗');
    expect(cpp.querySelector('.jp-mod-up')!.textContent).toBe('2.43× faster');
  });

  it('says in two sentences what the overview comes to', () => {
    const limit = {
      variant: 'python',
      title: 'Python wrapper',
      headline: 'Overhead-bound: kernels run for 16 % of a call.',
      text: '84 % of 36 µs is overhead.',
      bound: 'overhead',
      basis: 'measured',
      parts: [],
      view: 'timings',
      unbuilt: false,
      remedy: '',
      calls: ''
    } as const;
    const of = (change: Partial<Overview>) =>
      report('f', { overview: overview({ headline: 'It is so.', ...change }) });
    const text = () => host.querySelector('.jp-mod-verdict')!.textContent;
    show({ report: of({ limit: { ...limit, parts: [] } }) });
    expect(text()).toContain('It is so.');
    expect(text()).toContain(`${limit.headline} Python wrapper`);
    show({ report: of({ limit: { ...limit, parts: [], basis: 'unknown' } }) });
    expect(text()).not.toContain('Overhead-bound');
  });

  it('keeps what is estimated out of the column of measurements', () => {
    const estimate = {
      kernels_us: 0.004,
      launch_us: 16,
      launches: 2,
      unknown: 0,
      bytes: 0,
      operations: 0,
      how: '',
      call_us: 16,
      figures: '',
      overhead: ''
    };
    const target = {
      name: 'h100',
      title: 'H100 SXM',
      arch: '90',
      is_here: false,
      estimate,
      kernels: 1,
      compiled: 0,
      checks: {},
      estimated: [],
      checked: ''
    };
    const h100 = variantSummary('on h100', { target: 'h100' }, { target });
    const python = variantSummary(
      'python',
      {},
      { median_us: 58.3, interval_us: [58, 59], stage: 'built' }
    );
    show({ report: report('f', { variants: [python, h100] }) });
    const row = host.querySelectorAll('tbody tr')[1];
    expect(row.querySelectorAll('td')[0].textContent).toBe('–');
    expect(row.querySelector('th')!.textContent).toContain('16.0 µs');
    expect(row.textContent).not.toContain('ns');
    show({ report: report('f', { variants: [h100] }) });
    expect(host.querySelector('thead')!.textContent).toContain('est. time');
    expect(host.querySelectorAll('tbody td')[0].textContent).toContain(
      '16.0 µs'
    );
    expect(button('Compile and check')).toBeTruthy();
  });

  it('leaves out columns in which nothing has a value', () => {
    const table = () => host.querySelector('.jp-Compilescope-variants')!;
    const without = () =>
      [...table().classList].filter(name => name.startsWith('jp-mod-no-'));
    show({ report: report('f', { variants: [variantSummary('as written')] }) });
    expect(without()).toEqual([
      'jp-mod-no-times',
      'jp-mod-no-speedups',
      'jp-mod-no-compiles',
      'jp-mod-no-checks'
    ]);
    const timed = variantSummary('python', {}, { median_us: 58.3 });
    show({ report: report('f', { variants: [timed] }) });
    expect(without()).not.toContain('jp-mod-no-times');
    expect(without()).toContain('jp-mod-no-speedups');
    const compiled = { ...timed, compile_s: 4.2, accurate: true };
    show({ report: report('f', { variants: [compiled] }) });
    expect(without()).toEqual(['jp-mod-no-speedups']);
  });

  it('calls a variant for a target what the overview calls it', () => {
    const name = 'python on h100';
    const target = { title: 'H100 SXM', arch: '90' };
    const h100 = variantSummary(
      name,
      { target: 'h100' },
      {
        target: {
          ...target,
          name: 'h100',
          is_here: false,
          estimate: null,
          kernels: 1,
          compiled: 0,
          checks: {},
          estimated: [],
          checked: ''
        }
      }
    );
    const targets = [
      {
        variant: name,
        title: 'Python wrapper on H100 SXM',
        device: 'H100 SXM',
        call_us: 16,
        text: ''
      }
    ];
    const words = () => host.querySelector('tbody th')!.textContent!;
    show({ report: report('f', { variants: [h100] }) });
    expect(words()).toContain('python on h100H100 SXM');
    show({
      report: report('f', {
        variants: [h100],
        overview: overview({ targets })
      })
    });
    expect(words()).toBe('Python wrapper on H100 SXMpython on h100 · sources');
  });

  it('turns to a variant', () => {
    show();
    click(button('cpp'));
    expect(actions.showVariant).toHaveBeenCalledWith('cpp');
  });

  it('runs, shows how far it is, and cancels', () => {
    show();
    click(button('Build and time'));
    expect(actions.run).toHaveBeenCalled();
    show({
      job: job({ state: 'running', step: 'cpp: building C++', fraction: 0.25 })
    });
    const progress = host.querySelector('progress')!;
    expect(progress.value).toBe(0.25);
    expect(host.textContent).toContain('cpp: building C++');
    expect(button('Build and time').hasAttribute('disabled')).toBe(true);
    click(button('Cancel'));
    expect(actions.cancel).toHaveBeenCalled();
  });

  it('says that a job waits for the kernel', () => {
    show({ job: job() });
    expect(host.textContent).toContain('kernel busy, queued');
  });

  it('shows the grave problems first, with cause, remedy and detail', () => {
    const where = {
      file: '/tmp/ipykernel_1/1.py',
      line: 2,
      function: 'f',
      code: 'print(x)'
    };
    show({
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
    const cards = [...host.querySelectorAll('article')];
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
    click(button('cell:2'));
    expect(actions.goTo).toHaveBeenCalledWith(where);
  });

  it('shows what several variants have alike once', () => {
    const nothing = problem({ what: 'nothing compiled', remedy: 'Use `sum`.' });
    const python = variantSummary('python', {}, { problems: [nothing] });
    const cpp = variantSummary('cpp', {}, { problems: [{ ...nothing }] });
    show({ report: report('f', { variants: [python, cpp] }) });
    const cards = [...host.querySelectorAll('article')];
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
    show({ report: report('f', { variants: [python, cpp, other] }) });
    expect(host.querySelectorAll('article')).toHaveLength(2);
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
    show({ report: report('f', { overview: overview({ counts }) }) });
    const section = host.querySelector('.jp-mod-problems')!;
    expect(section.textContent).toBe('Problems13 recompiles in the cell');
    click(button('3 recompiles in the cell'));
    expect(actions.openView).toHaveBeenCalledWith('recompiles', 'in the cell');
    show({
      report: report('f', { overview: overview({ counts: [counts[0]] }) })
    });
    expect(section.textContent).toContain('No errors or warnings.');
  });

  it('shows the panel’s own problem even before the report', () => {
    show({ report: null, problem: problem({ what: 'no report' }) });
    expect(host.textContent).toContain('no report');
  });

  it('says that the code of the other wrapper is ready', () => {
    const variants = [variantSummary('python', variant())];
    const ready = [variant({ cpp_wrapper: true })];
    show({ report: report('f', { variants, ready }), requested: variant() });
    const note = () => host.querySelector('.jp-Compilescope-ready');
    expect(note()?.textContent).toBe('The code of the C++ wrapper is ready');
    const requested = variant({ mode: 'max-autotune' });
    show({ report: report('f', { variants, ready }), requested });
    expect(note()).toBeNull();
  });

  it('says at the switch that was flipped what it changed', () => {
    const changed = {
      baseline: 'python',
      summary: 'Against python: all 2 kernels are identical.',
      switches: ['mode']
    };
    const requested = variant({ mode: 'max-autotune' });
    const variants = [variantSummary('max-autotune', requested, { changed })];
    show({ requested, report: report('f', { variants }) });
    const note = host.querySelector('.jp-Compilescope-changed')!;
    expect(note.textContent).toContain(changed.summary);
    expect(note.previousElementSibling?.textContent).toContain('mode');
    click(note.querySelector('button')!);
    expect(actions.openView).toHaveBeenCalledWith('changes', 'max-autotune');
    show({ requested: variant(), report: report('f', { variants }) });
    expect(host.querySelector('.jp-Compilescope-changed')).toBeNull();
  });

  it('names every control', () => {
    show({ job: job({ state: 'running' }) });
    for (const control of host.querySelectorAll(
      'button, input, select, progress, table, ul'
    )) {
      const name =
        control.getAttribute('aria-label') ??
        control.closest('label')?.textContent ??
        control.closest('[aria-labelledby]')?.getAttribute('aria-labelledby') ??
        control.textContent;
      expect(name).toBeTruthy();
    }
  });
});
