import { editor, marked } from '../../helpers/compilescope';
import {
  expectNames,
  expectText,
  openSample,
  picture
} from '../../helpers/views';
import { expect, test } from '../../helpers/test';

test('what one call launches', async ({ page, tmpPath }) => {
  const view = await openSample(page, 'Kernels', 'Kernels', tmpPath);
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
