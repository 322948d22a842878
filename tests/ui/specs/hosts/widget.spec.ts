import type { FrameLocator, Page } from '@playwright/test';
import { expect, test } from '@playwright/test';
import { notebookOf, SUBJECT } from '../../helpers/notebook';
import { takePicture } from '../../helpers/pictures';
import { shutDown } from '../../helpers/shared';

/**
 * The panel below the report of a cell, by itself: where JupyterLab's extension is
 * not, and in Notebook.
 */

const NOTEBOOK = 'widget.ipynb';

const CELLS = [
  ...SUBJECT.slice(0, 2),
  '%%compile --no-run --variants python\nout = attend(x, y)'
];

test.use({ viewport: { width: 1500, height: 1200 } });

test.beforeEach(async ({ request }) => {
  const content = notebookOf(CELLS);
  await request.put(`api/contents/${NOTEBOOK}`, {
    data: { type: 'notebook', format: 'json', content }
  });
});

test.afterAll(({ request }) => shutDown(request));

test('in Notebook, light and dark', async ({ page }) => {
  await page.goto(`notebooks/${NOTEBOOK}`);
  await runAll(page);
  const panel = panelOf(page);
  await flip(panel);
  await page.locator('iframe').scrollIntoViewIfNeeded();
  await takePicture(page, 'widget-light');
  // What Notebook's own dark theme sets besides its style sheet.
  await page.evaluate(() => {
    document.body.dataset.jpThemeLight = 'false';
  });
  await expect(panel.locator('html')).toHaveAttribute('data-theme', 'dark');
  await takePicture(page, 'widget-dark');
});

test('in JupyterLab without the extension', async ({ page }) => {
  // The kernel is that of the test before, if there was one.
  // It goes on without an extension that it cannot load.
  await page.route('**/extensions/jupyterlab-compilescope/**', route =>
    route.abort()
  );
  await page.goto(`lab/tree/${NOTEBOOK}?reset`);
  await runAll(page);
  const panel = panelOf(page);
  await flip(panel);

  await test.step('it fills the window, and goes back', async () => {
    const frame = page.locator('iframe');
    const { height } = page.viewportSize()!;
    const inCell = await frame.evaluate(node => node.clientHeight);
    await panel.getByRole('button', { name: 'Full window' }).click();
    await expect(frame).toHaveJSProperty('clientHeight', height);
    await takePicture(page, 'widget-full');
    await page.keyboard.press('Escape');
    await expect(frame).toHaveJSProperty('clientHeight', inCell);
  });

  await test.step('it says that its kernel has gone', async () => {
    await page.evaluate(async () => {
      const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
      await app.commands.execute('kernelmenu:shutdown');
    });
    await expect(panel.getByText('The kernel is gone')).toBeVisible();
    await expect(panel.getByText('launches, all on both sides')).toBeVisible();
  });
});

/**
 * What is used of the application object, in JupyterLab and in Notebook.
 */
interface IApp {
  commands: { execute(id: string): Promise<unknown> };
  shell: {
    currentWidget: {
      sessionContext?: { session: { kernel: { status: string } } | null };
    } | null;
  };
}

/**
 * Run the cells of the notebook that is open.
 */
async function runAll(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const { jupyterapp: app } = window as unknown as { jupyterapp?: IApp };
    const context = app?.shell.currentWidget?.sessionContext;
    return context?.session?.kernel.status === 'idle';
  });
  await page.locator('.jp-Cell .jp-InputPrompt').first().click();
  for (let index = 0; index < CELLS.length; index++) {
    await page.keyboard.press('Shift+Enter');
  }
}

/**
 * The panel in the frame of a cell's output.
 */
function panelOf(page: Page): FrameLocator {
  return page.frameLocator('iframe[title="compilescope: attend"]');
}

/**
 * Flip the switch, and see the code of both wrappers.
 */
async function flip(panel: FrameLocator): Promise<void> {
  await expect(panel.getByRole('heading', { level: 1 })).toContainText(
    'attend'
  );
  await panel.getByRole('tab', { name: 'Code', exact: true }).click();
  await panel.getByRole('switch', { name: 'cpp_wrapper' }).check();
  await expect(panel.getByText('launches, all on both sides')).toBeVisible();
}
