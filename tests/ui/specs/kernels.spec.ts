import { editor, marked, openSidebar, sidebar } from '../helpers/compilescope';
import { openNotebook, runAll, SUBJECT } from '../helpers/notebook';
import { takePicture } from '../helpers/pictures';
import { SHARED, shutDown } from '../helpers/shared';
import {
  expectNames,
  expectText,
  openMade,
  openView,
  picture
} from '../helpers/views';
import { expect, test } from '../helpers/test';

/**
 * A time, on however slow a machine.
 */
const TIME = /\d [µm]s/;

test.afterAll(({ request }) => shutDown(request));

test('what one call launches', async ({ page, tmpPath }) => {
  const view = await openMade(page, 'Kernels', 'Kernels', tmpPath);
  const table = view.getByRole('grid', { name: 'Kernels' });
  const rows = table.getByRole('row');
  const filter = view.getByRole('searchbox');
  const details = view.getByRole('region', { name: /^Kernel / });

  await test.step('thousands, of which few are drawn', async () => {
    await expect(table).toHaveAttribute('aria-rowcount', '2004');
    expect(await rows.count()).toBeLessThan(100);
  });

  await test.step('sort and filter', async () => {
    await table.getByRole('button', { name: 'Est. bytes' }).click();
    await expect(rows.nth(1)).toContainText('fused_relu_0');
    await expect(rows.nth(1)).toContainText('2.00 KiB');
    await filter.fill('many_1999');
    await expect(rows).toHaveCount(2);
    await filter.fill('');
    await view
      .getByRole('combobox', { name: 'Language' })
      .selectOption('triton');
    await expect(rows).toHaveCount(2);
    await expectText(page, view);
    await expect(rows.nth(1)).toContainText('TMA');
    await rows.nth(1).click();
    const tma = details.getByRole('row', { name: /^a_desc/ });
    await expect(tma).toContainText('fp16[4096, 1024]');
    await expect(tma).toContainText('[128, 64]');
    await expect(tma).toContainText('by each block, in the kernel');
    await details.getByText('TMA descriptors').first().scrollIntoViewIfNeeded();
    await picture(page, view, 'descriptors');
    await view.getByRole('combobox', { name: 'Language' }).selectOption('');
  });

  await test.step('by keys', async () => {
    await table.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await expect(details).toContainText('fused_relu_0');
    await expect(details).toContainText('parallel x0: 64');
  });

  await expectNames(view);
  await picture(page, view, 'kernels');

  await test.step('from a launch to its line', async () => {
    await details
      .getByRole('button', { name: 'Show line 3 of variant cpp in the code' })
      .click();
    const cpp = editor(page, 'cpp', 'C\\+\\+ wrapper');
    await expect(marked(cpp, 'fused_relu_0(args)')).toBeVisible();
  });

  await test.step('to the source', async () => {
    await page.getByRole('tab', { name: 'Kernels', exact: true }).click();
    await details.getByRole('button', { name: 'Open source' }).click();
    await expect(editor(page, 'python', 'fused_relu_0')).toContainText(
      'void kernel() {}'
    );
  });
});

test('how long each launch takes, measured', async ({ page }) => {
  const path = `${SHARED}/measured-kernels.ipynb`;
  await openNotebook(page, SHARED, 'measured-kernels.ipynb', SUBJECT);
  await openSidebar(page);
  await runAll(page, SUBJECT.length);
  const view = await openView(page, 'kernels', 'Kernels', path);
  const measure = view.getByRole('button', { name: 'Measure kernels' });
  const table = view.getByRole('grid', { name: 'Kernels' });

  await test.step('not before there is something to measure', async () => {
    await expect(measure).toBeDisabled();
    await expect(view).toContainText('Build and time it first.');
    await expect(
      table.getByRole('columnheader', { name: 'Time', exact: true })
    ).toHaveCount(0);
    await sidebar(page).getByRole('button', { name: 'Build and time' }).click();
    await expect(measure).toBeEnabled();
  });

  await test.step('in the table, with the share of the peak', async () => {
    await measure.click();
    await expect(
      view.getByRole('button', { name: 'Measure again' })
    ).toBeEnabled();
    await expect(
      table.getByRole('columnheader', { name: 'Time', exact: true })
    ).toBeVisible();
    const rows = table.getByRole('row');
    await expect(rows.nth(1)).toContainText(TIME);
    await expect(rows.nth(2)).toContainText(TIME);
    await expect(table).toContainText(/%\s*(memory|arithmetic)/);
    await rows.nth(2).click();
    await expect(view.getByRole('region', { name: /^Kernel / })).toContainText(
      /measured over \d+ calls/
    );
    await picture(page, view, 'kernels-measured');
  });

  await test.step('on the graph', async () => {
    const graph = await openView(page, 'graph', 'Graph', path);
    await graph.getByRole('combobox', { name: 'Colour' }).selectOption('time');
    await expect(graph.locator('.jp-Compilescope-graph-legend')).toContainText(
      /[\d.]–[\d.]+ µs/
    );
    await picture(page, graph, 'graph-times');
  });

  await test.step('beside the launch in the code', async () => {
    await page.getByRole('tab', { name: 'Code', exact: true }).click();
    const times = page.locator('.jp-Compilescope-code-times span:visible');
    await expect(times.first()).toHaveText(TIME);
    await expect(times.first()).toHaveAttribute('title', /measured over/);
    await takePicture(page, 'code-times-light');
  });
});
