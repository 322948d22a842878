import { editor } from '../../helpers/compilescope';
import {
  expectNames,
  expectText,
  openSample,
  picture
} from '../../helpers/views';
import { expect, test } from '../../helpers/test';

test('what torch made of each setting', async ({ page, tmpPath }) => {
  const view = await openSample(page, 'Settings', 'Settings', tmpPath);

  await test.step('what differs comes first, with code to copy', async () => {
    await expect(
      view.getByRole('heading', { name: /2 settings not in effect/ })
    ).toBeVisible();
    const card = view.getByRole('article').filter({ hasText: 'CUDA graphs' });
    await expect(card).toContainText('all variants');
    await expect(card).toContainText('skipped because of a cpu device');
    await card.getByRole('button', { name: 'Copy' }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe('torch.compile(f, mode="default")');
  });

  await test.step('side by side', async () => {
    const row = view.getByRole('row', { name: /^CUDA graphs/ });
    await expect(row.getByRole('cell')).toHaveText([
      /not as requested:.*on.*off/,
      /not as requested:.*on.*off/
    ]);
  });

  await expectText(page, view);
  await expectNames(view);
  await picture(page, view, 'requested');

  await test.step('ways to operators', async () => {
    const part = view.getByRole('region', {
      name: /^How extern and custom operators/
    });
    const rows = part.getByRole('row', { name: /^mylib::rotate/ });
    await expect(rows).toContainText([
      /python.*Python.*torch\.ops, from Python.*2.*7\.25/,
      /cpp.*Python.*dispatcher, into Python.*1.*4\.50/
    ]);
    await part.scrollIntoViewIfNeeded();
    await picture(page, view, 'routes');
  });

  await test.step('from an operator to its line', async () => {
    const row = view.getByRole('row', { name: /^mylib::rotate cpp/ });
    await row.getByRole('button', { name: '3', exact: true }).click();
    const active = editor(page, 'cpp', 'C\\+\\+ wrapper');
    await expect(active).toBeVisible();
    await expect(active).toContainText('fused_relu_0(args)');
  });
});
