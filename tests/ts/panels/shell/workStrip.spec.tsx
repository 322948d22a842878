import { Widget } from '@lumino/widgets';
import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { formatTime } from '../../../../src/panels/common/states/elapsed';
import { WORTH_SAYING_MS } from '../../../../src/panels/common/states/lasting';
import { WorkStrip } from '../../../../src/panels/shell/work';
import { problem } from '../../../../src/protocol/client';
import { job, report, variantSummary } from '../../support/fakes';
import { contextOf, drawn, stage, ViewModel } from '../../support/views';

describe('WorkStrip', () => {
  let model: ViewModel;
  let strip: WorkStrip;
  const runAgain = { isPossible: () => true, run: jest.fn() };

  beforeEach(async () => {
    // However long a busy machine takes, no second passes.
    jest.spyOn(Date, 'now').mockReturnValue(1e12);
    stage();
    model = new ViewModel();
    strip = new WorkStrip({ ...contextOf(model), runAgain });
    Widget.attach(strip, document.body);
    await drawn();
  });

  afterEach(() => {
    act(() => strip.dispose());
    jest.restoreAllMocks();
  });

  async function statusText(
    change: Parameters<typeof job>[0]
  ): Promise<string> {
    model.job = job(change);
    model.jobSince = Date.now() - 12_000;
    model.jobChanged.emit();
    await drawn();
    return strip.node.textContent ?? '';
  }

  const click = (label: string) =>
    act(() =>
      [...strip.node.querySelectorAll('button')]
        .find(button => button.textContent === label)!
        .click()
    );

  it('says what is done and since when, and cancels it', async () => {
    expect(strip.node.textContent).toBe('');
    const text = await statusText({
      state: 'running',
      variant: 'cpp',
      step: 'generating code: graph passes',
      aside: true
    });
    expect(text).toBe('cpp generating code: graph passes 12 sCancel');
    expect(
      await statusText({ state: 'running', step: 'building', aside: false })
    ).toBe('building 12 s· cells wait until it endsCancel');
    click('Cancel');
    expect(model.cancel).toHaveBeenCalled();
  });

  it('says nothing of what is soon over', async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    model.job = job({ state: 'running', step: 'generating code', aside: true });
    model.jobSince = Date.now();
    model.jobChanged.emit();
    await drawn();
    expect(strip.node.textContent).toBe('');
    await act(async () => {
      jest.advanceTimersByTime(WORTH_SAYING_MS);
    });
    expect(strip.node.textContent).toContain('generating code');
    jest.useRealTimers();
  });

  it('says how long that usually takes, and when it takes longer', async () => {
    const time_words: [number, string][] = [
      [0, 'expected: about 40 s'],
      [1, '{elapsed} of about 40 s'],
      [45, '{elapsed}, longer than expected']
    ];
    const running = { state: 'running', step: 'tracing' } as const;
    expect(await statusText({ ...running, time_words })).toContain(
      'tracing 12 s of about 40 s'
    );
    const text = (seconds: number) =>
      formatTime(seconds, time_words, nullTranslator.load(''));
    expect(text(0)).toBe('expected: about 40 s');
    expect(text(65)).toBe('1 min 05 s, longer than expected');
  });

  it('says what others wait for', async () => {
    expect(await statusText({ state: 'queued' })).toContain(
      'kernel busy, queued'
    );
    expect(await statusText({ id: 'job-2', aside: true })).toContain(
      'waiting for another compilation'
    );
    expect(await statusText({ subject: 'g', state: 'running' })).toBe('');
  });

  it('names no variants after a cancel before anything was built', async () => {
    model.report = report('f', {
      variants: [variantSummary('python'), variantSummary('cpp')]
    });
    expect(await statusText({ state: 'cancelled' })).toContain(
      'Canceled. Nothing is built; the generated code is kept.'
    );
  });

  it('says what there is after a cancel, and goes on', async () => {
    model.report = report('f', {
      variants: [
        variantSummary('eager', { backend: null }, { stage: 'built' }),
        variantSummary('python', {}, { stage: 'built' }),
        variantSummary('cpp')
      ]
    });
    expect(await statusText({ state: 'cancelled' })).toContain(
      'Canceled. Built: python. Code only: cpp.'
    );
    click('Resume');
    expect(model.resume).toHaveBeenCalled();
    click('Dismiss');
    await drawn();
    expect(strip.node.textContent).toBe('');
    expect(await statusText({ id: 'job-2', state: 'done' })).toBe('');
  });

  it('offers a report that came meanwhile', async () => {
    model.subjects = [{ subject: { id: 'w', name: 'watch 1' } }];
    model.offered = 'w';
    model.subjectsChanged.emit();
    await drawn();
    expect(strip.node.textContent).toContain(
      'The report of watch 1 is complete.'
    );
    click('Dismiss');
    expect(model.dismissOffer).toHaveBeenCalled();
    click('Show it');
    expect(model.subject).toBe('w');
  });

  it('says what became of the next kernel’s job of the same id', async () => {
    const stopped = { state: 'cancelled' } as const;
    await statusText(stopped);
    click('Dismiss');
    expect(await statusText(stopped)).toBe('');
    await statusText({ state: 'running' });
    expect(await statusText(stopped)).toContain('Canceled.');
  });

  it('says what a job failed by', async () => {
    const error = problem({ what: 'a fault of ours' });
    expect(await statusText({ state: 'failed', error })).toContain(
      'a fault of ours'
    );
  });

  it('says that the kernel is gone, and runs the cell again', async () => {
    model.isLive = false;
    model.isKept = true;
    model.status = { kind: 'unloaded' };
    model.statusChanged.emit();
    await drawn();
    expect(strip.node.textContent).toContain(
      'The kernel was restarted: this report predates it. You can view and save it.'
    );
    click('Run again');
    expect(runAgain.run).toHaveBeenCalled();
  });

  it('says nothing above the report of a file', async () => {
    model.isLive = false;
    model.statusChanged.emit();
    await drawn();
    expect(strip.node.textContent).toBe('');
  });
});
