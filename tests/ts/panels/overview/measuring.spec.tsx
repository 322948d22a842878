import type { Overview } from '../../../../src/protocol/types';
import { job, report, variant } from '../../support/fakes';
import { BUILT, FULL, overviewStage, result } from './overviewSupport';
import { contextOf } from '../../support/views';

const UNTIMED = result('cpp', {
  title: 'C++ wrapper',
  state: 'unmeasured',
  why: 'not measured yet',
  latency_us: null,
  interval_us: null
});
const UNKNOWN: Partial<Overview> = {
  wrapper: {
    ...FULL.wrapper!,
    headline: 'Not measured yet.',
    text: 'Both wrappers are generated, but not timed.',
    unbuilt: true,
    remedy: 'cs.measure(report) builds and times them.'
  },
  limit: {
    ...FULL.limit!,
    headline: 'Not measured yet.',
    text: 'The time of a call was not broken down.',
    bound: 'unknown',
    basis: 'unknown',
    parts: [],
    study: 'layers',
    remedy: 'cs.study(report, "layers") breaks it down.'
  }
};

describe('What the Overview offers to build and measure', () => {
  let page: ReturnType<typeof overviewStage>;

  beforeEach(() => {
    page = overviewStage();
  });

  afterEach(() => page.remove());

  it('offers to add the wrapper that is missing', () => {
    const requested = variant({ cpp_wrapper: true });
    page.drawOverview({ ...FULL, wrapper: { ...FULL.wrapper!, requested } });
    page.click(page.button('Add the C++ wrapper'));
    expect(page.onTry).toHaveBeenLastCalledWith(requested);
    page.model.isLive = false;
    page.drawOverview({ ...FULL, wrapper: { ...FULL.wrapper!, requested } });
    expect(() => page.button('Add the C++ wrapper')).toThrow();
  });

  it('says what was not measured, and offers to', () => {
    page.drawOverview({ ...UNKNOWN, results: [result('python'), UNTIMED] });
    expect(page.text()).toContain('not measured yet');
    page.click(page.button('Measure for 10 s'));
    expect(page.model.startMeasure).toHaveBeenCalledWith({
      variants: ['python', 'cpp'],
      seconds: 10
    });
    page.drawOverview({ ...FULL, limit: { ...FULL.limit!, study: 'kernels' } });
    page.click(page.button('Measure kernels'));
    expect(page.model.startStudies).toHaveBeenLastCalledWith(
      ['kernels'],
      ['python']
    );
    page.drawOverview({ ...UNKNOWN, results: [result('python'), UNTIMED] });
    page.click(page.button('Break down the time'));
    expect(page.model.startStudies).toHaveBeenCalledWith(
      ['layers'],
      ['python']
    );
    expect(page.text()).not.toContain('cs.');
  });

  it('leads to a breakdown that is too noisy to judge', () => {
    const verdict = {
      bound: 'unclear' as const,
      evidence: '',
      helps: [],
      estimated: false,
      limited_by: 'noisy' as const,
      title: '',
      meaning: ''
    };
    page.drawOverview(UNKNOWN);
    expect(() => page.button('Where the time goes')).toThrow();
    const variants = BUILT.map(summary => ({ ...summary, verdict }));
    page.model.report = report('f', { variants });
    const context = page.drawOverview(UNKNOWN);
    page.click(page.button('Where the time goes'));
    expect(context.open).toHaveBeenLastCalledWith('layers');
  });

  it('offers to measure for longer where that is undecided', () => {
    const undecided = {
      needed_import: 'import compilescope as cs',
      results: [result('python'), result('cpp')],
      longer_s: 30,
      longer: 'cs.measure(report, seconds=30) times them for longer.'
    };
    page.drawOverview({ ...FULL, ...undecided });
    page.click(page.button('Measure for 30 s'));
    expect(page.model.startMeasure).toHaveBeenCalledWith({
      variants: ['python', 'cpp'],
      seconds: 30
    });
    expect(page.text()).not.toContain(undecided.longer);
    expect(page.text()).not.toContain(undecided.needed_import);
    page.model.isLive = false;
    page.drawOverview({ ...FULL, ...undecided });
    expect(() => page.button('Measure for 30 s')).toThrow();
    expect(page.text()).toContain(undecided.longer);
    expect(page.text()).toContain(undecided.needed_import);
  });

  it('says that other processes disturbed the measurement', () => {
    page.drawOverview({ ...FULL, load: 'Other processes used 2 of 2.' });
    expect(page.texts('.jp-Compilescope-results .jp-mod-warning')).toEqual([
      'Other processes used 2 of 2.'
    ]);
  });

  it('offers to build where nothing is built, and then says how far that is', () => {
    const unbuilt: Partial<Overview> = {
      ...UNKNOWN,
      results: [UNTIMED],
      limit: { ...UNKNOWN.limit!, unbuilt: true }
    };
    page.drawOverview(unbuilt);
    expect(page.all('button').map(element => element.textContent)).toEqual([
      'C++ wrapper',
      'Build and time',
      'Step by step'
    ]);
    page.click(page.button('Build and time'));
    expect(page.model.run).toHaveBeenCalledTimes(1);
    page.model.job = job({ state: 'running', step: 'building' });
    page.model.jobSince = Date.now();
    page.drawOverview(unbuilt);
    expect(() => page.button('Build and time')).toThrow();
    expect(
      page.texts('.jp-Compilescope-overviewCard .jp-Compilescope-hint')
    ).toEqual(['building… ', 'building… ']);
  });

  it('says nothing in the cards about the code of a flipped switch', () => {
    page.model.pending = true;
    page.model.job = job({ state: 'running', variant: 'python dynamic' });
    page.drawOverview({
      ...UNKNOWN,
      limit: { ...UNKNOWN.limit!, unbuilt: true }
    });
    expect(
      page.texts('.jp-Compilescope-overviewCard .jp-Compilescope-hint')
    ).toEqual([]);
  });

  it('offers nothing that takes a kernel where there is none, but names the call', () => {
    page.model.isLive = false;
    for (const results of [[UNTIMED], [result('python'), UNTIMED]]) {
      page.drawOverview({ ...FULL, ...UNKNOWN, results });
      for (const name of [
        'Try it',
        'Build and time',
        'Measure for 10 s',
        'Break down the time'
      ]) {
        expect(() => page.button(name)).toThrow();
      }
      expect(page.text()).toContain(
        'cs.measure(report) builds and times them.'
      );
      expect(page.text()).toContain(
        'cs.study(report, "layers") breaks it down.'
      );
    }
  });

  it('names no call where the kernel is gone: the cell runs again', () => {
    page.model.isLive = false;
    const runAgain = { isPossible: () => true, run: jest.fn() };
    page.drawOverview(
      { ...FULL, ...UNKNOWN },
      { ...contextOf(page.model), runAgain }
    );
    expect(page.text()).not.toContain('cs.');
  });
});
