import type { Kernel } from '@jupyterlab/services';
import type { Problem } from './types';
import { problem } from './client';

/**
 * How often code is sent again after the kernel cleared its queue.
 */
const ATTEMPTS = 5;

/**
 * Run code silently on the kernel's main thread: without output or history. A
 * cell that fails makes the kernel clear its queue; the code is then sent again
 * while `isWanted` returns true.
 *
 * @returns The error that the code raised, or null.
 */
export async function execute(
  kernel: Kernel.IKernelConnection,
  code: string,
  isWanted: () => boolean = () => true
): Promise<Problem | null> {
  for (let attempt = 0; attempt < ATTEMPTS && isWanted(); attempt++) {
    const future = kernel.requestExecute({
      code,
      silent: true,
      store_history: false,
      allow_stdin: false,
      stop_on_error: false
    });
    const { content } = await future.done;
    if (content.status === 'error') {
      return problem({
        what: 'The kernel could not run the panel’s request',
        why: `${content.ename}: ${content.evalue}`,
        detail: content.traceback.join('\n')
      });
    }
    if (content.status === 'ok') {
      return null;
    }
  }
  return null;
}

/**
 * Evaluate a Python expression silently on the kernel's main thread.
 *
 * @returns Its `repr`, or null if it raised an exception.
 */
export async function evaluate(
  kernel: Kernel.IKernelConnection,
  expression: string
): Promise<string | null> {
  const future = kernel.requestExecute({
    code: '',
    silent: true,
    store_history: false,
    allow_stdin: false,
    stop_on_error: false,
    user_expressions: { value: expression }
  });
  const { content } = await future.done;
  if (content.status !== 'ok') {
    return null;
  }
  const value = content.user_expressions?.value as
    { status?: string; data?: Record<string, string> } | undefined;
  return value?.data?.['text/plain'] ?? null;
}
