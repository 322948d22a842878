import type { APIRequestContext } from '@playwright/test';

/**
 * Where notebooks are kept whose kernels outlive a test: torch is imported once
 * for all tests of a file. Each test opens the notebook anew in a page of its
 * own, and runs its cells again.
 */
export const SHARED = 'shared';

/**
 * For `test.use`: galata leaves kernels and sessions alone, instead of ending
 * them after each test. Its bookkeeping also takes every answer for JSON, and
 * that to an interrupt is empty.
 */
export const KEEP_KERNELS = { kernels: null, sessions: null };

/**
 * End all kernels.
 */
export async function shutDown(request: APIRequestContext): Promise<void> {
  const sessions = (await (await request.get('api/sessions')).json()) as {
    id: string;
  }[];
  for (const { id } of sessions) {
    await request.delete(`api/sessions/${id}`);
  }
}
