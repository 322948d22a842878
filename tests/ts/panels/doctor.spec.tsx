import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { CheckupBody } from '../../../src/panels/doctor';
import type { Check, CheckupResult } from '../../../src/protocol/types';

const trans = nullTranslator.load('jupyterlab_compilescope');

function check(change: Partial<Check> = {}): Check {
  return {
    name: 'compiler',
    state: 'ok',
    finding: 'g++ 12',
    remedy: '',
    detail: '',
    subject: 'C++ compiler',
    seconds: 0,
    ...change
  };
}

function answer(checks: Check[], waiting: string[] = []): CheckupResult {
  return {
    checkup: {
      checks,
      created: '',
      environment: 'torch 2.13',
      seconds: 1,
      waiting
    },
    summary: waiting.length > 0 ? '1 ok, still checking' : '1 problem, 1 ok'
  };
}

describe('the doctor', () => {
  let host: HTMLElement;
  let unmount: () => void;

  async function open(
    request: (restart: boolean) => Promise<CheckupResult>
  ): Promise<void> {
    host = document.body.appendChild(document.createElement('div'));
    const root = createRoot(host);
    unmount = () => root.unmount();
    await act(async () => {
      root.render(<CheckupBody request={request} trans={trans} />);
    });
  }

  beforeEach(() => {
    (globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;
    jest.useFakeTimers();
  });

  afterEach(() => {
    act(() => unmount());
    host.remove();
    jest.useRealTimers();
  });

  it('fills as checks are made, and asks until nothing is waited for', async () => {
    const asked: boolean[] = [];
    const broken = check({
      name: 'torch’s folder',
      subject: 'Cache folders',
      state: 'problem',
      finding: '<b>noexec</b>',
      remedy: 'Mount it without.',
      detail: 'long'
    });
    const answers = [
      answer([check()], ['Cache folders']),
      answer([check(), broken])
    ];
    await open(async restart => {
      asked.push(restart);
      return answers[Math.min(asked.length, answers.length) - 1];
    });
    expect(host.querySelector('[role=status]')?.textContent).toBe(
      '1 ok, still checking'
    );
    expect(host.querySelector('button')?.disabled).toBe(true);
    await act(async () => jest.advanceTimersByTime(5000));
    expect(asked).toEqual([true, false]);
    expect(host.querySelectorAll('section')).toHaveLength(2);
    const row = host.querySelector('[data-state=problem]');
    expect(row?.textContent).toContain('<b>noexec</b>');
    expect(row?.textContent).toContain('Mount it without.');
    expect(host.querySelector('b')).toBeNull();
    await act(async () => jest.advanceTimersByTime(5000));
    expect(asked).toHaveLength(2);
    await act(async () => host.querySelector('button')?.click());
    expect(asked).toEqual([true, false, true]);
  });

  it('says why there is no answer', async () => {
    await open(() => Promise.reject(new Error('The kernel is gone')));
    expect(host.querySelector('[role=alert]')?.textContent).toContain(
      'The kernel is gone'
    );
    expect(host.querySelector('button')?.disabled).toBe(false);
  });
});
