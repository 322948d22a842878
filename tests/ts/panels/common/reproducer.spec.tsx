import * as React from 'react';
import { act } from 'react';
import { download } from '../../../../src/download';
import { ReproducerPart } from '../../../../src/panels/common/reproducer';
import { StageProgram } from '../../../../src/panels/graph/aside/program';
import type {
  JobState,
  ReproducerResult
} from '../../../../src/protocol/types';
import { contextOf, HOSTILE, stage, ViewModel } from '../../support/views';

jest.mock('../../../../src/download', () => ({ download: jest.fn() }));

function result(
  state: JobState['state'],
  change: Partial<JobState> = {}
): ReproducerResult {
  return {
    job: {
      id: 'job-1',
      subject: 'f',
      state,
      variant: 'python',
      step: 'running the program',
      fraction: null,
      error: null,
      kind: 'reproduce',
      needs_main_thread: false,
      aside: true,
      elapsed_s: 0,
      time_words: [],
      ...change
    },
    reproducer: null
  };
}

const PROGRAM: ReproducerResult = {
  ...result('done'),
  reproducer: {
    filename: 'cpp_fused_add_0.py',
    code: `print("${HOSTILE}")`,
    tried: 'agrees',
    why: '',
    unchecked: '',
    output: 'buf0: agrees',
    outcome: "Ran in a new process and agrees with torch's operators."
  }
};

const PART = { variant: 'python', compilation: '0/0', kernel: 'k' };

describe('a standalone program', () => {
  const model = new ViewModel() as ViewModel & {
    getReproducer: jest.Mock;
    cancelReproducer: jest.Mock;
  };
  let page: ReturnType<typeof stage>;

  async function open(...answers: ReproducerResult[]): Promise<void> {
    model.cancelReproducer = jest.fn(() => Promise.resolve());
    model.getReproducer = jest.fn(() =>
      Promise.resolve(answers.length > 1 ? answers.shift() : answers[0])
    );
    page = stage();
    await act(async () =>
      page.draw(<ReproducerPart part={PART} context={contextOf(model)} />)
    );
  }

  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    page.remove();
    jest.useRealTimers();
  });

  it('is followed while it is tried, then offered', async () => {
    await open(result('queued'), result('running'), PROGRAM);
    expect(page.host.querySelector('pre')).toBeNull();
    await act(() => jest.advanceTimersByTimeAsync(700));
    expect(page.text()).toContain('running the program');
    await act(() => jest.advanceTimersByTimeAsync(700));
    expect(page.text()).toContain("agrees with torch's operators");
    expect(page.text()).toContain('buf0: agrees');
    expect(page.text()).toContain(HOSTILE);
    expect(page.host.querySelector('img')).toBeNull();
    page.click(page.button('Download cpp_fused_add_0.py'));
    expect(download).toHaveBeenCalledWith(
      'cpp_fused_add_0.py',
      PROGRAM.reproducer?.code
    );
    await act(() => jest.advanceTimersByTimeAsync(5000));
    expect(model.getReproducer.mock.calls).toEqual([
      [PART, false],
      [PART, false],
      [PART, false]
    ]);
  });

  it('can be canceled, and tried again', async () => {
    await open(result('running'), result('cancelled'), PROGRAM);
    page.click(page.button('Cancel'));
    expect(model.cancelReproducer).toHaveBeenCalledWith('job-1');
    await act(() => jest.advanceTimersByTimeAsync(700));
    expect(page.text()).toContain('Canceled.');
    await act(async () => page.click(page.button('Try again')));
    expect(model.getReproducer).toHaveBeenLastCalledWith(PART, true);
    expect(page.text()).toContain('Download');
  });

  it('shows why there is none', async () => {
    const error = {
      severity: 'error' as const,
      what: 'No Python wrapper of the report launches it.',
      why: '',
      remedy: 'Inspect with the Python wrapper too.',
      where: null,
      detail: '',
      facts: {}
    };
    await open(result('failed', { error }));
    expect(page.text()).toContain('No Python wrapper of the report');
    expect(page.text()).toContain('Inspect with the Python wrapper too.');
  });

  it('is made smaller for a graph of a variant that failed or is wrong', async () => {
    await open(PROGRAM);
    page.remove();
    page = stage();
    const summary = model.report!;
    const draw = (failed: boolean, accurate = true): Promise<void> =>
      act(async () => {
        model.report = {
          ...summary,
          variants: summary.variants.map(variant => ({
            ...variant,
            stage: failed ? 'failed' : 'built',
            accurate
          }))
        };
        page.draw(
          <StageProgram
            context={contextOf(model)}
            data={{
              subject: summary.subject.id,
              revision: summary.revision,
              variant: summary.variants[0].name,
              compilation: '0/0',
              stages: ['post_grad'],
              absent: {},
              kernels: []
            }}
            stage="post_grad"
            onClose={() => undefined}
          />
        );
      });
    await draw(false);
    expect(page.host.querySelector('input')).toBeNull();
    await draw(false, false);
    expect(page.host.querySelector('input')).not.toBeNull();
    await draw(true);
    await act(async () => page.host.querySelector('input')?.click());
    expect(model.getReproducer).toHaveBeenLastCalledWith(
      expect.objectContaining({ graph: 'post_grad', minify: true }),
      false
    );
  });
});
