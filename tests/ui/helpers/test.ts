import {
  galata,
  test as labTest,
  type IJupyterLabPageFixture
} from '@jupyterlab/galata';
import type { Page } from '@playwright/test';

export { expect } from '@jupyterlab/galata';

/**
 * The page that the tests of a worker share: JupyterLab takes six seconds of
 * processor time to load.
 */
let shared: IJupyterLabPageFixture | undefined;

/**
 * A test in a JupyterLab that is already loaded, without documents, in the light
 * theme. Its kernels run on: `shutDown` ends them.
 *
 * Use Galata's own `test` for what changes more of a page than that, such as
 * settings.
 */
export const test = labTest.extend<{ page: IJupyterLabPageFixture }>({
  page: async ({ browser, baseURL, viewport, waitForApplication }, use) => {
    if (shared === undefined || shared.isClosed()) {
      const lab = await galata.newPage({
        baseURL: baseURL!,
        browser,
        waitForApplication,
        // Galata's bookkeeping takes every answer for JSON, and that to an
        // interrupt is empty.
        mockKernels: false,
        mockSessions: false,
        // Galata's mock keeps documents that were closed: a page that is loaded again
        // would open those of all tests before it, and start their kernels.
        mockState: false,
        // It would go to a folder.
        autoGoto: false
      });
      shared = lab.page;
      const [page] = lab.page.context().pages();
      // A page before it, in which a test failed, may have left documents.
      await load(page, `${baseURL}/lab?reset`);
    } else {
      await shared.setViewportSize(viewport!);
      await clear(shared);
    }
    await use(shared);
  }
});

/**
 * Load JupyterLab, and wait until its plugins are active and its layout is restored.
 * Galata's own way gives up after 15 s.
 */
async function load(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: 'domcontentloaded' });
  // Galata's helpers in the page know the application once they were asked for it.
  await page.waitForFunction(
    () => (window as { galata?: { app?: unknown } }).galata?.app !== undefined
  );
  await page.evaluate(() => {
    const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
    return app.restored;
  });
  await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
}

interface IApp {
  restored: Promise<void>;
  shell: {
    widgets(area: string): Iterable<{ dispose(): void }>;
    collapseLeft(): void;
    collapseRight(): void;
  };
}

/**
 * Close all documents, without saving them, and both sidebars.
 */
async function clear(page: IJupyterLabPageFixture): Promise<void> {
  await page.evaluate(() => {
    const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
    // Galata's helpers know the application of a page that was loaded again once
    // they are asked for it.
    void (window as unknown as { galata: { app: unknown } }).galata.app;
    for (const widget of [...app.shell.widgets('main')]) {
      widget.dispose();
    }
    app.shell.collapseLeft();
    app.shell.collapseRight();
  });
  await page.theme.setLightTheme();
}
