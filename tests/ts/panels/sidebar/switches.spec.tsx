import { NO_CHOICES } from '../../../../src/model/variants';
import { report, variant, variantSummary } from '../../support/fakes';
import { sidebarStage } from './sidebarSupport';

describe('The switches in the sidebar', () => {
  let page: ReturnType<typeof sidebarStage>;

  beforeEach(() => {
    page = sidebarStage();
  });

  afterEach(() => page.remove());

  it('flips each switch', () => {
    page.show();
    page.click(page.host.querySelector('[name=cpp_wrapper]')!);
    expect(page.actions.setRequested).toHaveBeenLastCalledWith({
      cpp_wrapper: true
    });
    page.click(page.host.querySelector('[name=fullgraph]')!);
    expect(page.actions.setRequested).toHaveBeenLastCalledWith({
      fullgraph: true
    });
    page.choose(page.host.querySelector('[name=mode]')!, 'max-autotune');
    expect(page.actions.setRequested).toHaveBeenLastCalledWith({
      mode: 'max-autotune'
    });
    page.choose(page.host.querySelector('[name=backend]')!, 'eager');
    expect(page.actions.setRequested).toHaveBeenLastCalledWith({
      backend: 'eager'
    });
    const [auto, on, off] = page.host.querySelectorAll<HTMLInputElement>(
      '[role=radiogroup] input'
    );
    expect(auto.checked).toBe(true);
    page.click(on);
    expect(page.actions.setRequested).toHaveBeenLastCalledWith({
      dynamic: true
    });
    page.click(off);
    expect(page.actions.setRequested).toHaveBeenLastCalledWith({
      dynamic: false
    });
  });

  it('goes back to the default mode by its torch name', () => {
    page.show({ requested: variant({ mode: 'max-autotune' }) });
    page.choose(page.host.querySelector('[name=mode]')!, 'default');
    expect(page.actions.setRequested).toHaveBeenLastCalledWith({ mode: null });
  });

  it('gives the reason why there is no target to choose', () => {
    page.show();
    const target = page.host.querySelector<HTMLSelectElement>('[name=target]')!;
    expect(target.disabled).toBe(true);
    expect(page.host.textContent).toContain('No other target devices');
    page.show({
      choices: { ...NO_CHOICES, targets: ['cuda:sm_90'] }
    });
    expect(target.disabled).toBe(false);
  });

  it('disables Inductor’s switches under another backend', () => {
    page.show({ requested: variant({ backend: 'eager' }) });
    const disabled = (name: string) =>
      page.host.querySelector<HTMLInputElement>(`[name=${name}]`)!.disabled;
    expect(
      ['cpp_wrapper', 'mode', 'fullgraph', 'backend'].map(disabled)
    ).toEqual([true, true, false, false]);
  });

  it('says that the code of the other wrapper is ready', () => {
    const variants = [variantSummary('python', variant())];
    const ready = [variant({ cpp_wrapper: true })];
    page.show({
      report: report('f', { variants, ready }),
      requested: variant()
    });
    const note = () => page.host.querySelector('.jp-Compilescope-ready');
    expect(note()?.textContent).toBe('The code of the C++ wrapper is ready');
    const requested = variant({ mode: 'max-autotune' });
    page.show({ report: report('f', { variants, ready }), requested });
    expect(note()).toBeNull();
  });

  it('says at the switch that was flipped what it changed', () => {
    const changed = {
      baseline: 'python',
      summary: 'Compared with python: both kernels are identical.',
      switches: ['mode']
    };
    const requested = variant({ mode: 'max-autotune' });
    const variants = [variantSummary('max-autotune', requested, { changed })];
    page.show({ requested, report: report('f', { variants }) });
    const note = page.host.querySelector('.jp-Compilescope-changed')!;
    expect(note.textContent).toContain(changed.summary);
    expect(note.previousElementSibling?.textContent).toContain('mode');
    page.click(note.querySelector('button')!);
    expect(page.actions.openView).toHaveBeenCalledWith(
      'changes',
      'max-autotune'
    );
    page.show({ requested: variant(), report: report('f', { variants }) });
    expect(page.host.querySelector('.jp-Compilescope-changed')).toBeNull();
  });
});
