import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import * as React from 'react';
import { act } from 'react';
import type { Root } from 'react-dom/client';
import { createRoot } from 'react-dom/client';
import { NO_CHOICES } from '../../../../src/model/variants';
import type {
  ISidebarActions,
  ISidebarState
} from '../../../../src/panels/sidebar/types';
import { Watch } from '../../../../src/panels/sidebar/watch';
import { showWatched } from '../../../../src/panels/sidebar/watched';
import type {
  WatchedCompilation,
  WatchState
} from '../../../../src/protocol/types';
import type { ISubjectModel } from '../../../../src/interfaces/subject';
import { report, variant } from '../../support/fakes';
import { watchState } from '../../support/structs';

const CALL = { file: '/tmp/ipykernel_1/1.py', line: 4, function: '', code: '' };

function watched(change: Partial<WatchedCompilation> = {}): WatchedCompilation {
  return {
    id: '0/0',
    frame: { file: '/lib/model.py', line: 12, function: 'forward', code: '' },
    name: 'forward',
    started_s: 1,
    duration_s: 0.25,
    breaks: 0,
    recompile: '',
    failed: '',
    outcome: 'compiled',
    outcome_words: '',
    cell: 'a-cell',
    cell_number: 3,
    call: CALL,
    ...change
  };
}

function watching(change: Partial<WatchState> = {}): WatchState {
  return watchState({ compilations: 1, latest: [watched()], ...change });
}

describe('Watch', () => {
  let host: HTMLElement;
  let root: Root;
  const actions = {
    setWatch: jest.fn(),
    showWatched: jest.fn()
  } as unknown as jest.Mocked<ISidebarActions>;
  const trans = nullTranslator.load('jupyterlab_compilescope');

  beforeEach(() => {
    (globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;
    jest.clearAllMocks();
    host = document.body.appendChild(document.createElement('div'));
    root = createRoot(host);
  });

  afterEach(() => {
    act(() => root.unmount());
    host.remove();
  });

  function show(
    watch: WatchState | null,
    change: Partial<ISidebarState> = {}
  ): void {
    const state: ISidebarState = {
      isLive: true,
      isKept: false,
      earlier: [],
      canRunAgain: false,
      status: { kind: 'ready' },
      subjects: [],
      subject: 'watch-1',
      choices: NO_CHOICES,
      report: report('watch-1'),
      sides: { left: '', right: '' },
      requested: variant(),
      pending: false,
      job: null,
      jobSince: 0,
      tiers: [],
      problem: null,
      watch,
      compilation: '0/0',
      ...change
    };
    act(() =>
      root.render(<Watch state={state} actions={actions} trans={trans} />)
    );
  }

  const toggle = () => host.querySelector<HTMLInputElement>('[role=switch]')!;
  const click = (element: Element) =>
    act(() => {
      element.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    });

  it('says what it is for while nothing was watched', () => {
    show(null);
    expect(host.textContent).toContain('as it happens');
    expect(toggle().checked).toBe(false);
    click(toggle());
    expect(actions.setWatch).toHaveBeenCalledWith(true, false);
  });

  it('is switched off, and emptied, when it is on', () => {
    show(watching());
    expect(toggle().getAttribute('aria-checked')).toBe('true');
    click(toggle());
    expect(actions.setWatch).toHaveBeenCalledWith(false, false);
    click(host.querySelector('[aria-label^=Clear]')!);
    expect(actions.setWatch).toHaveBeenCalledWith(true, true);
  });

  it('rests while the kernel does not answer', () => {
    show(watching(), { status: { kind: 'busy' } });
    expect(toggle().disabled).toBe(true);
  });

  it('tells how it stands', () => {
    show(
      watching({
        compilations: 40,
        counts: ['40 compilations (1 failed)', '2 recompiles', '1 graph break']
      })
    );
    const status = host.querySelector('[role=status]')!.textContent;
    expect(status).toMatch(
      /^Since \d\d:\d\d:\d\d · 40 compilations \(1 failed\) · 2 recompiles · 1 graph break$/
    );
    expect(host.textContent).toContain('The last 1 of 40');
  });

  it('marks what was compiled again, broke, failed or goes on', () => {
    show(
      watching({
        latest: [
          watched({ id: '0/2', duration_s: null }),
          watched({ id: '0/1', recompile: 'expected 3, actual 4', breaks: 2 }),
          watched({ failed: 'limit', outcome_words: 'fell back to eager' })
        ]
      })
    );
    const rows = [...host.querySelectorAll('li')].map(row => row.textContent);
    expect(rows[0]).toContain('compiling…');
    expect(rows[1]).toContain('recompile');
    expect(rows[1]).toContain('2 breaks');
    expect(rows[2]).toContain('fell back to eager');
    expect(host.querySelector('[title=limit]')).not.toBeNull();
    expect(host.querySelector('[title="expected 3, actual 4"]')).not.toBeNull();
  });

  it('turns the views to a compilation, and to the cell of its call', () => {
    show(watching());
    const [name, place] = [...host.querySelectorAll('li button')];
    expect(name.getAttribute('aria-current')).toBe('true');
    click(name);
    expect(actions.showWatched).toHaveBeenCalledWith('0/0', null);
    expect(place.textContent).toBe('torch.compile in cell line 4');
    expect(host.querySelector('li')!.textContent).toContain('[3]');
    click(place);
    expect(actions.showWatched).toHaveBeenCalledWith('0/0', CALL);
  });

  it('shows names as text', () => {
    const name = '<img src=x onerror=alert(1)>';
    show(
      watching({
        latest: [watched({ name, failed: name, outcome_words: 'failed' })]
      })
    );
    expect(host.querySelector('img')).toBeNull();
    expect(host.textContent).toContain(name);
  });

  it('shows what went wrong', () => {
    show(
      watching({
        problem: {
          severity: 'error',
          what: 'Part of watching failed',
          why: '',
          remedy: '',
          where: null,
          detail: '',
          facts: {}
        }
      })
    );
    expect(host.textContent).toContain('Part of watching failed');
  });
});

describe('showWatched', () => {
  it('selects the line once the report of the watch is there', () => {
    const model = {
      watch: watching(),
      subject: 'f',
      report: report('f') as ISubjectModel['report'],
      compilation: '',
      select: jest.fn()
    } as unknown as ISubjectModel & { report: ISubjectModel['report'] };
    const changed = new Signal<ISubjectModel, void>(model);
    Object.assign(model, { reportChanged: changed });
    const origin = {};
    showWatched(model, '0/1', CALL, origin);
    expect([model.subject, model.compilation]).toEqual(['watch-1', '0/1']);
    expect(model.select).not.toHaveBeenCalled();
    changed.emit();
    expect(model.select).toHaveBeenCalledTimes(1);
    changed.emit();
    expect(model.select).toHaveBeenCalledTimes(1);
    showWatched(model, '0/2', CALL, origin);
    expect(model.select).toHaveBeenCalledTimes(2);
    showWatched(model, '0/2', null, origin);
    expect(model.select).toHaveBeenCalledTimes(2);
  });
});
