import type { Kernel } from '@jupyterlab/services';
import type { Problem } from './types';
import { problem } from './client';

/**
 * How often code is handed in again after the kernel threw its queue away.
 */
const ATTEMPTS = 5;

/**
 * Run code on the kernel's main thread, unseen: no output, no history.
 *
 * A cell that fails makes the kernel drop what is queued behind it; such code
 * is handed in again for as long as `isWanted` says so.
 *
 * @returns What the code raised, or null.
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
 * Evaluate a Python expression on the kernel's main thread, unseen.
 *
 * @returns Its `repr`, or null if it raised.
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
