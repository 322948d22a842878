import { expect, test } from '@playwright/test';
import { savePage } from '../../helpers/savedPage';

test('has guards in sight in a low window', async ({ page }) => {
  // As at 200 % zoom.
  await page.setViewportSize({ width: 640, height: 450 });
  await page.goto(`${savePage('training')}#view=guards`);
  const guards = page.getByRole('region', { name: 'Guards' });
  await expect(guards.getByRole('treeitem').first()).toBeInViewport({
    ratio: 1
  });
  const [call, machine] = await page
    .getByRole('banner')
    .locator('p')
    .evaluateAll(lines => lines.map(line => line.getBoundingClientRect().top));
  expect(machine).toBe(call);
});

/**
 * Whether the end of an element is where a pointer meets it.
 */
function isInSight(node: Element): boolean {
  const { left, bottom } = node.getBoundingClientRect();
  return node.contains(document.elementFromPoint(left + 2, bottom - 2));
}

test('scrolls to all of a selected kernel in a low window', async ({
  page
}) => {
  await page.setViewportSize({ width: 640, height: 450 });
  await page.goto(`${savePage('training')}#view=kernels`);
  const kernels = page.getByRole('region', {
    name: 'Kernels',
    exact: true
  });
  await kernels.getByRole('row').nth(1).click();
  const last = kernels.locator('.jp-Compilescope-kernelParts > :last-child');
  await expect(last).not.toBeInViewport();
  await kernels.hover();
  // The selected kernel scrolls inside the view: a turn of the wheel moves one of both.
  await expect(async () => {
    await page.mouse.wheel(0, 400);
    expect(await last.evaluate(isInSight)).toBe(true);
  }).toPass();
});

test('brings the buffers of the selected kernel into sight in a low window', async ({
  page
}) => {
  await page.setViewportSize({ width: 640, height: 450 });
  await page.goto(`${savePage('training')}#view=kernels`);
  const kernels = page.getByRole('region', { name: 'Kernels' });
  await kernels.getByRole('row').nth(1).click();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Memory' }).click();
  const buffers = page.getByRole('grid', { name: 'Buffers' });
  await expect(buffers.locator('.jp-mod-marked').first()).toBeInViewport({
    ratio: 1
  });
});

test('gives the selected kernel the height that the table leaves', async ({
  page
}) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${savePage('training')}#view=kernels`);
  const kernels = page.getByRole('region', { name: 'Kernels' });
  const row = kernels.getByRole('row').nth(1);
  await row.click();
  const selected = kernels.locator('.jp-Compilescope-kernel');
  await expect(selected).toBeVisible();
  await expect(row).toBeInViewport();
  const hidden = () =>
    selected.evaluate(node => node.scrollHeight - node.clientHeight);
  await expect.poll(hidden).toBe(0);
});
