import type { APIRequestContext, Page } from '@playwright/test';

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

/**
 * A panel's arguments are stored. JupyterLab stores the layout with a delay, and
 * a page that is reloaded before shows what was there before.
 *
 * @param notebook - The path of the notebook that the panel belongs to.
 * @param place - Which of the notebook's panels: 0 is its own.
 * @param view - The view that it shows.
 */
export async function isStored(
  page: Page,
  notebook: string,
  place: number,
  view: string
): Promise<void> {
  const name = `compilescope-views:${notebook}#${place}`;
  await page.waitForRequest(request => {
    const { data } = (request.method() === 'PUT' &&
      request.url().includes('/api/workspaces') &&
      request.postDataJSON()) || { data: {} };
    const layout = JSON.stringify(data['layout-restorer:data'] ?? '');
    return layout.includes(name) && data[name]?.data.view === view;
  });
}
