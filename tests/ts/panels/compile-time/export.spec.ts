import type { ITrace } from '../../../../src/panels/compile-time/chromeTrace';
import { exportTrace } from '../../../../src/panels/compile-time/export';
import type { LoadSpan } from '../../../../src/protocol/types';
import { contextOf, HOSTILE, ViewModel } from '../../support/views';
import { BUILT, LOAD, ONE } from './compilations';

describe('exportTrace', () => {
  it('offers a file with a name that is none of the user’s making', () => {
    const model = new ViewModel();
    model.report!.subject.name = `../${HOSTILE}`;
    const { filename, text } = exportTrace(BUILT, [ONE], contextOf(model));
    expect(filename).toMatch(/^compile-[\w.-]+-python\.trace\.json$/);
    const trace = JSON.parse(text);
    expect(trace.otherData).toMatchObject({
      variant: 'python',
      first_call_s: 2.5
    });
    expect(trace.traceEvents.length).toBeGreaterThan(4);
  });

  it('names the threads of kernels by their call', () => {
    const span = (step: LoadSpan['step'], background: boolean) => ({
      ...{ step, start_us: 9, us: 5, background }
    });
    const spans = [
      span('compile', true),
      span('first_run', false),
      span('later_run', false)
    ];
    const variant = { ...BUILT, kernel_loads: [{ ...LOAD, spans }] };
    const { text } = exportTrace(variant, [ONE], contextOf(new ViewModel()));
    const { traceEvents }: ITrace = JSON.parse(text);
    const named = traceEvents
      .filter(({ name }) => /^(process|thread)_name$/.test(name))
      .map(({ pid, args }) => [pid, args.name]);
    expect(named).toEqual([
      [1, 'python, cold'],
      [1, '0/0, main thread'],
      [1, '0/0, kernels, first call, main thread'],
      [1, '0/0, kernels, first call, in parallel, 1'],
      [2, 'python, warm'],
      [2, '0/0, main thread'],
      [3, 'python, a later call'],
      [3, '0/0, kernels, a later call, main thread']
    ]);
  });
});
