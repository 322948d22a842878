import type { APIRequestContext } from '@playwright/test';

/**
 * Where notebooks are kept whose kernels outlive a test: torch is imported once
 * for all tests of a file. Each test opens the notebook anew, and runs its
 * cells again.
 */
export const SHARED = 'shared';

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
