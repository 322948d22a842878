import type { Page } from '@playwright/test';
import * as fs from 'fs';
import {
  editors,
  openCode,
  openSidebar,
  progress,
  subjects,
  toggle,
  variants
} from '../../helpers/compilescope';
import {
  cell,
  command,
  notebookOf,
  open,
  openNotebook,
  run,
  runAll,
  start,
  SUBJECT,
  waitForKernel
} from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import { expect, test } from '../../helpers/test';

test.afterAll(({ request }) => shutDown(request));

/**
 * While it is there, builds go on: no test is too late to stop one.
 */
const HOLD = process.env.COMPILESCOPE_TEST_HOLD!;

test.afterEach(() => fs.rmSync(HOLD, { force: true }));

/**
 * What is looked at in a report that was saved.
 */
interface ISavedReport {
  variants: { name: string; compilations: { kernels: unknown[] }[] }[];
}

/**
 * A subject of its own: what another test has built is not built again.
 */
function subject(formula: string): string[] {
  return SUBJECT.map(source => source.replace('x @ y', formula));
}

test('cancel stops a running compile, and the kernel goes on', async ({
  page
}) => {
  const cells = [...subject('x.sin() @ y'), 'attend(x, y).shape'];
  await openNotebook(page, SHARED, 'kernel.ipynb', cells);
  const panel = await openSidebar(page);
  await runAll(page, SUBJECT.length);
  fs.writeFileSync(HOLD, '');
  await panel.getByRole('button', { name: 'Build and time' }).click();
  const cancel = panel.getByRole('button', { name: 'Cancel' });
  // In the middle of it: C++ is being built.
  await expect(progress(page, /building/)).toBeVisible();
  await expect(panel).toContainText('cells wait until it ends');
  await cancel.click();
  await expect(panel.getByText(/^Canceled/)).toBeVisible();
  fs.rmSync(HOLD);
  await waitForKernel(page);
  await run(page, 3);
  await expect(cell(page, 3)).toContainText('torch.Size([16, 16])');
  await expect(
    panel.getByRole('button', { name: 'Build and time' })
  ).toBeEnabled();
  // What was there before is there still.
  await expect(variants(page)).toHaveCount(2);
  await expect(variants(page).filter({ hasText: 'failed' })).toHaveCount(0);
  await openCode(page);
  await expect(editors(page).first()).toContainText('extern_kernels.mm(');
});

test('the stop button of the notebook stops %%compile', async ({ page }) => {
  const cells = [
    ...subject('x.cos() @ y').slice(0, 2),
    '%%compile\nattend(x, y)',
    'attend(x, y).shape'
  ];
  await openNotebook(page, SHARED, 'kernel.ipynb', cells);
  await openSidebar(page);
  await runAll(page, 2);
  fs.writeFileSync(HOLD, '');
  await start(page, 2);
  await expect(progress(page, /building/)).toBeVisible();
  await command(page, 'notebook:interrupt-kernel');
  await waitForKernel(page);
  // What is sent before the error has come is taken back by the kernel.
  await expect(cell(page, 2).locator('.jp-InputPrompt')).toHaveText(/\[\d+\]:/);
  await expect(cell(page, 2)).toContainText('Interrupted');
  fs.rmSync(HOLD);
  await run(page, 3);
  await expect(cell(page, 3)).toContainText('torch.Size([16, 16])');

  await test.step('a restart from the panel ends the progress in the cell', async () => {
    fs.writeFileSync(HOLD, '');
    await start(page, 2);
    await expect(progress(page, /building/)).toBeVisible();
    await expect(cell(page, 2).locator('progress')).toBeVisible();
    await openCode(page);
    await command(page, 'kernelmenu:restart');
    await page.locator('.jp-Dialog .jp-mod-accept').click();
    await expect(cell(page, 2)).toContainText(
      'The kernel was restarted before the inspection finished.'
    );
    await expect(cell(page, 2).locator('progress')).toHaveCount(0);
    fs.rmSync(HOLD);
    await cell(page, 2).locator('.jp-InputPrompt').first().click();
    await waitForKernel(page);
  });
});

test('progress in a notebook’s file ends as it is opened in another kernel', async ({
  page
}) => {
  const path = `${SHARED}/reopened.ipynb`;
  const file = notebookOf(['%%compile\nattend(x, y)']);
  file.cells[0].outputs.push({
    output_type: 'display_data',
    data: { 'text/html': '<progress></progress> building' },
    metadata: { compilescope: 'unfinished' }
  });
  await page.contents.uploadContent(JSON.stringify(file), 'text', path);
  await open(page, path);
  await expect(cell(page, 0)).toContainText('before the inspection finished.');
  await expect(cell(page, 0).locator('progress')).toHaveCount(0);
});

test('a busy kernel still answers the panel', async ({ page }) => {
  const cells = [...SUBJECT, 'import time\nwhile True: time.sleep(0.1)'];
  await openNotebook(page, SHARED, 'kernel.ipynb', cells);
  const panel = await openSidebar(page);
  await runAll(page, SUBJECT.length);
  await start(page, 3);
  await expect(cell(page, 3).locator('.jp-InputPrompt')).toHaveText('[*]:');
  await toggle(page, 'fullgraph').check();
  await expect(variants(page)).toHaveCount(3);
  await expect(panel).not.toContainText('Kernel busy');
  await expect(cell(page, 3).locator('.jp-InputPrompt')).toHaveText('[*]:');
  await command(page, 'notebook:interrupt-kernel');
  await waitForKernel(page);
});

test('the panel opens while queued cells run', async ({ page }) => {
  const cells = [...SUBJECT, 'import time\nwhile True: time.sleep(0.1)'];
  await openNotebook(page, SHARED, 'queued.ipynb', cells);
  await waitForKernel(page);
  // The kernel is idle for a moment between them.
  await command(page, 'notebook:run-all-cells');
  await expect(page.getByRole('region', { name: 'Overview' })).toBeVisible();
  await expect(cell(page, 3).locator('.jp-InputPrompt')).toHaveText('[*]:');
  await command(page, 'notebook:interrupt-kernel');
  await waitForKernel(page);
});

test('a restarted kernel is followed, and a dead one leaves its report', async ({
  page
}) => {
  const fetches = countFetches(page);
  await openNotebook(page, SHARED, 'kernel.ipynb', SUBJECT);
  const panel = await openSidebar(page);
  await runAll(page, SUBJECT.length);
  await openCode(page);
  await expect(editors(page)).toHaveCount(2);
  await expect.poll(fetches).toBeGreaterThan(0);
  await command(page, 'notebook:restart-kernel');
  await page.locator('.jp-Dialog .jp-mod-accept').click();
  await expect(panel).toContainText('The kernel was restarted');
  await waitForKernel(page);
  const before = fetches();
  await panel.getByRole('button', { name: 'Run again' }).click();
  // Only a report of this kernel can be built.
  await expect(
    panel.getByRole('button', { name: 'Build and time' })
  ).toBeEnabled();
  await waitForKernel(page);
  await expect(panel).not.toContainText('The kernel was restarted');
  await expect(subjects(page)).toHaveCount(1);
  await expect(editors(page)).toHaveCount(2);
  // It takes the place of the one before the restart, and is not there at once.
  await expect.poll(fetches).toBeGreaterThan(before);

  await test.step('a dead kernel leaves its last report to read', async () => {
    // The menu acts on the panel's notebook while the panel is in front.
    await openCode(page);
    await command(page, 'kernelmenu:shutdown');
    await expect(panel.getByRole('status').first()).toContainText(
      /last report/
    );
    await expect(subjects(page).first()).toContainText('attend');
    await expect(editors(page)).toHaveCount(2);
  });

  await test.step('which can be saved', async () => {
    const saved = page.waitForEvent('download');
    await command(page, 'compilescope:save-report', { format: 'json' });
    const text = fs.readFileSync(await (await saved).path(), 'utf8');
    const { variants } = JSON.parse(text) as ISavedReport;
    expect(variants.map(({ name }) => name)).toEqual(['python', 'cpp']);
    for (const { compilations } of variants) {
      expect(compilations[0].kernels).not.toHaveLength(0);
    }
  });
});

/**
 * How many whole reports a page has fetched from kernels that are opened after this, to
 * outlive them.
 */
function countFetches(page: Page): () => number {
  let count = 0;
  page.on('websocket', socket =>
    socket.on('framereceived', ({ payload }) => {
      // The answer is part of a message's JSON, or JSON in it.
      count += Number(/filename\\?":/.test(payload.toString()));
    })
  );
  return () => count;
}

test('without subshells a busy kernel is said to be busy', async ({
  page,
  tmpPath
}) => {
  const busy = `import os, time
while not os.path.exists("go"):
    time.sleep(0.1)`;
  const cells = [...SUBJECT, busy];
  await openNotebook(page, tmpPath, 'plain.ipynb', cells, 'no-subshells');
  const panel = await openSidebar(page);
  await runAll(page, SUBJECT.length);
  await start(page, 3);
  await toggle(page, 'fullgraph').check();
  await expect(panel).toContainText('Kernel busy, queued');
  // The cell over, the request is answered.
  await page.contents.uploadContent('', 'text', `${tmpPath}/go`);
  await expect(variants(page)).toHaveCount(3);
  await expect(panel).not.toContainText('Kernel busy');
});

test('a kernel without the package: how to install it', async ({
  page,
  tmpPath
}) => {
  await openNotebook(page, tmpPath, 'lacking.ipynb', ['1'], 'no-compilescope');
  const panel = await openSidebar(page);
  await expect(panel).toContainText('not installed in this kernel');
  await expect(panel).toContainText('pip install jupyterlab-compilescope');
});

test('a kernel that has not loaded it: one click loads it', async ({
  page,
  tmpPath
}) => {
  await openNotebook(page, tmpPath, 'unloaded.ipynb', ['%subshell']);
  const panel = await openSidebar(page);
  await expect(panel).toContainText('not loaded in this kernel');
  // No thread is made for a kernel that serves nobody, and none torn down.
  await run(page, 0);
  await expect(cell(page, 0)).toContainText('subshell list: []');
  await expect(cell(page, 0)).not.toContainText('Task was destroyed');
  await panel.getByRole('button', { name: 'Load compilescope' }).click();
  await expect(panel).toContainText('Nothing inspected yet');
});

test('a kernel of another language is left alone', async ({
  page,
  tmpPath
}) => {
  await openNotebook(page, tmpPath, 'echo.ipynb', ['hello'], 'other-language');
  const panel = await openSidebar(page);
  await expect(panel).toContainText('Not a Python kernel');
  await expect(panel).toContainText('echo');
  await run(page, 0);
  await expect(cell(page, 0).locator('.jp-OutputArea')).toHaveText('hello');
});
