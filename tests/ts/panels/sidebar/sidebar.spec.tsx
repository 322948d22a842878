import { act } from 'react';
import { problem } from '../../../../src/protocol/client';
import type { TraceSummary } from '../../../../src/protocol/types';
import { job, overview, report } from '../../support/fakes';
import { sidebarStage } from './sidebarSupport';

describe('SidebarBody', () => {
  let page: ReturnType<typeof sidebarStage>;

  beforeEach(() => {
    page = sidebarStage();
  });

  afterEach(() => page.remove());

  const blank = { subjects: [], subject: null, report: null };

  it('lists the processes of a trace, and no column without a figure', () => {
    const trace = {
      processes: [
        {
          name: 'rank 0',
          counts: ['3 compilations', '250 ms of compile time']
        }
      ]
    } as unknown as TraceSummary;
    page.show({ isLive: false, report: { ...report('f'), trace } });
    const section = page.host.querySelector('.jp-mod-processes')!;
    expect(section.textContent).toContain(
      '3 compilations · 250 ms of compile time'
    );
    expect(page.host.textContent).not.toContain('over eager');
    page.click(page.button('rank 0'));
    expect(page.actions.showVariant).toHaveBeenCalledWith('rank 0');
  });

  it('names the device of the call, and all versions in a title', () => {
    const device = 'torch 2.13.0 · NVIDIA H200';
    const environment = `${device} · Python 3.12.3`;
    page.show({
      report: { ...report('f'), overview: overview({ device, environment }) }
    });
    const foot = page.host.querySelector('footer')!;
    expect([foot.textContent, foot.title]).toEqual([device, environment]);
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
    page.show({ ...blank, status: { kind } });
    expect(page.host.textContent).toContain(text);
  });

  it('asks a kernel that loaded the extension for a cell alone', () => {
    page.show({ ...blank, status: { kind: 'ready' } });
    expect(page.host.textContent).not.toContain('%load_ext');
  });

  it('marks the subjects of a kernel before this one', () => {
    const rows = () =>
      [...page.host.querySelectorAll('.jp-Compilescope-subject')].map(row =>
        row.textContent!.includes('from before the restart')
      );
    page.show();
    expect(rows()).toEqual([false, false]);
    page.show({ earlier: ['g'] });
    expect(rows()).toEqual([false, true]);
    page.show({ earlier: ['f', 'g'], status: { kind: 'dead' } });
    expect(page.host.textContent).toContain('its kernel is gone');
  });

  it('names the language that is not Python', () => {
    page.show({ ...blank, status: { kind: 'unsupported', language: 'R' } });
    expect(page.host.textContent).toContain('R');
  });

  it('shows an error with its remedy, and tries again', () => {
    const silence = problem({ what: 'silence', remedy: 'restart' });
    page.show({ ...blank, status: { kind: 'error', problem: silence } });
    expect(page.host.textContent).toContain('silence');
    expect(page.host.textContent).toContain('restart');
    page.click(page.button('Try again'));
    expect(page.actions.retry).toHaveBeenCalled();
  });

  it('loads the extension', () => {
    page.show({ ...blank, status: { kind: 'unloaded' } });
    page.click(page.button('Load compilescope'));
    expect(page.actions.load).toHaveBeenCalled();
  });

  it('keeps the last report of a dead kernel, and says so', () => {
    page.show({ status: { kind: 'dead' } });
    expect(page.host.querySelector('[role=status]')!.textContent).toContain(
      'gone'
    );
    expect(page.host.querySelectorAll('tbody tr')).toHaveLength(3);
    expect(page.button('Build and time').hasAttribute('disabled')).toBe(true);
    expect(page.host.querySelector('fieldset')!.disabled).toBe(true);
  });

  it('says that the report is on its way', () => {
    page.show({ report: null });
    expect(page.host.textContent).toContain('Getting the report');
  });

  it('lists the subjects as options, and moves by keys', () => {
    page.show();
    const options = [...page.host.querySelectorAll('[role=option]')];
    expect(
      options.map(element => element.getAttribute('aria-selected'))
    ).toEqual(['true', 'false']);
    act(() => {
      options[0].dispatchEvent(
        new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true })
      );
    });
    expect(page.actions.selectSubject).toHaveBeenCalledWith('g');
  });

  it('runs, shows how far it is, and cancels', () => {
    page.show();
    page.click(page.button('Build and time'));
    expect(page.actions.run).toHaveBeenCalled();
    page.show({
      job: job({ state: 'running', step: 'cpp: building C++', fraction: 0.25 })
    });
    const progress = page.host.querySelector('progress')!;
    expect(progress.value).toBe(0.25);
    expect(page.host.textContent).toContain('cpp: building C++');
    expect(page.button('Build and time').hasAttribute('disabled')).toBe(true);
    page.click(page.button('Cancel'));
    expect(page.actions.cancel).toHaveBeenCalled();
  });

  it('says that a job waits for the kernel', () => {
    page.show({ job: job() });
    expect(page.host.textContent).toContain('kernel busy, queued');
  });

  it('shows the panel’s own problem even before the report', () => {
    page.show({ report: null, problem: problem({ what: 'no report' }) });
    expect(page.host.textContent).toContain('no report');
  });

  it('names every control', () => {
    page.show({ job: job({ state: 'running' }) });
    for (const control of page.host.querySelectorAll(
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
