import type { Overview } from '../../../../src/protocol/types';
import { overview, report, variantSummary } from '../../support/fakes';
import { speedup } from '../../support/measured';
import { sidebarStage } from './sidebarSupport';

describe('The variants in the sidebar', () => {
  let page: ReturnType<typeof sidebarStage>;

  beforeEach(() => {
    page = sidebarStage();
  });

  afterEach(() => page.remove());

  it('shows what was measured', () => {
    page.show({
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
    // What the Overview calls the same: a latency may be an interval alone.
    expect(page.host.querySelector('thead')!.textContent).toBe(
      'variantlatency per callover eagerfirst call✓outputs'
    );
    const [eager, cpp, bad] = page.host.querySelectorAll('tbody tr');
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

  it('gives all rows one layout, which a long title decides', () => {
    const isLong = (...names: string[]) => {
      page.show({
        report: report('f', {
          variants: names.map(name => variantSummary(name, {}))
        })
      });
      return page.host
        .querySelector('table')!
        .classList.contains('jp-mod-long');
    };
    expect(isLong('python', 'max-autotune cpp')).toBe(true);
    expect(isLong('python', 'cpp')).toBe(false);
    expect(page.host.querySelector('tr.jp-mod-long')).toBeNull();
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
      study: '',
      unbuilt: false,
      remedy: '',
      calls: ''
    } as const;
    const of = (change: Partial<Overview>) =>
      report('f', { overview: overview({ headline: 'It is so.', ...change }) });
    const text = () => page.host.querySelector('.jp-mod-verdict')!.textContent;
    page.show({ report: of({ limit: { ...limit, parts: [] } }) });
    expect(text()).toContain('It is so.');
    expect(text()).toContain(`${limit.headline} Python wrapper`);
    page.show({
      report: of({ limit: { ...limit, parts: [], basis: 'unknown' } })
    });
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
      arch: 'sm_90',
      is_here: false,
      estimate,
      kernels: 1,
      compiled: 0,
      checks: {},
      call_words: '≥ 16.0 µs',
      estimated: [],
      checked: ''
    };
    const h100 = variantSummary('on h100', { target: 'h100' }, { target });
    const python = variantSummary(
      'python',
      {},
      { median_us: 58.3, interval_us: [58, 59], stage: 'built' }
    );
    page.show({ report: report('f', { variants: [python, h100] }) });
    const row = page.host.querySelectorAll('tbody tr')[1];
    expect(row.querySelectorAll('td')[0].textContent).toBe('–');
    expect(row.querySelector('th')!.textContent).toContain('16.0\u00a0µs');
    expect(row.textContent).not.toContain('ns');
    page.show({ report: report('f', { variants: [h100] }) });
    expect(page.host.querySelector('thead')!.textContent).toContain(
      'est. time'
    );
    expect(page.host.querySelectorAll('tbody td')[0].textContent).toContain(
      '16.0\u00a0µs'
    );
    expect(page.button('Compile and check')).toBeTruthy();
  });

  it('shows the interval alone of a median that means little', () => {
    const noisy = variantSummary(
      'python',
      {},
      {
        median_us: 13.2,
        interval_us: [1.46, 61.3],
        latency: '1.46–61.3 µs',
        stage: 'built'
      }
    );
    page.show({ report: report('f', { variants: [noisy] }) });
    const [time] = page.host.querySelectorAll('tbody td');
    expect(time.textContent).toBe('1.46–61.3\u00a0µs');
  });

  it('leaves out columns in which nothing has a value', () => {
    const table = () => page.host.querySelector('.jp-Compilescope-variants')!;
    const without = () =>
      [...table().classList].filter(name => name.startsWith('jp-mod-no-'));
    page.show({
      report: report('f', { variants: [variantSummary('as written')] })
    });
    expect(without()).toEqual([
      'jp-mod-no-times',
      'jp-mod-no-speedups',
      'jp-mod-no-compiles',
      'jp-mod-no-checks'
    ]);
    const timed = variantSummary('python', {}, { median_us: 58.3 });
    page.show({ report: report('f', { variants: [timed] }) });
    expect(without()).not.toContain('jp-mod-no-times');
    expect(without()).toContain('jp-mod-no-speedups');
    const compiled = { ...timed, compile_s: 4.2, accurate: true };
    page.show({ report: report('f', { variants: [compiled] }) });
    expect(without()).toEqual(['jp-mod-no-speedups']);
  });

  it('calls a variant for a target what the overview calls it', () => {
    const name = 'python on h100';
    const target = { title: 'H100 SXM', arch: 'sm_90' };
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
          call_words: 'no estimate',
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
    const words = () => page.host.querySelector('tbody th')!.textContent!;
    page.show({ report: report('f', { variants: [h100] }) });
    expect(words()).toContain('python on h100H100 SXM');
    page.show({
      report: report('f', {
        variants: [h100],
        overview: overview({ targets })
      })
    });
    expect(words()).toBe(
      'Python wrapper on H100 SXMpython on h100 · sources only'
    );
    const [named] = targets;
    page.show({
      report: report('f', {
        variants: [h100],
        overview: overview({
          targets: [{ ...named, title: `${name} (H100 SXM)` }]
        })
      })
    });
    expect(words()).toBe('python on h100 (H100 SXM)sources only');
  });

  it('shows the stage in the kernel’s words, which an earlier file lacks', () => {
    const stageOf = (stage_words: string) => {
      const python = variantSummary('python', {}, { stage_words });
      page.show({ report: report('f', { variants: [python] }) });
      return page.host.querySelector('.jp-Compilescope-stage')!.textContent;
    };
    expect(stageOf('built and run')).toBe('built and run');
    expect(stageOf('')).toBe('sources');
  });

  it('turns to a variant', () => {
    page.show();
    page.click(page.button('cpp'));
    expect(page.actions.showVariant).toHaveBeenCalledWith('cpp');
  });
});
