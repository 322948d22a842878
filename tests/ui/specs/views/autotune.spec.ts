import {
  expectNames,
  expectText,
  openSample,
  picture
} from '../../helpers/views';
import { expect, test } from '../../helpers/test';

test('what torch chose by measuring', async ({ page, tmpPath }) => {
  const view = await openSample(page, 'Autotune', 'Autotune', tmpPath);
  const table = view.getByRole('table', { name: 'Candidates for mm' });

  await test.step('the chosen one first, the others with why not', async () => {
    await expect(view).toContainText('3 autotunings');
    await expect(table.getByRole('row').nth(1)).toContainText(
      'chosen: triton_mm_0'
    );
    const library = table.getByRole('row', { name: /extern call/ });
    await expect(library).toContainText('1.50×');
    await view.getByRole('button', { name: 'Show all 41' }).click();
    await expect(table.getByRole('rowheader')).toHaveCount(41);
  });

  await test.step('what was skipped, and why', async () => {
    await expect(view).toContainText('The weights are not frozen.');
  });

  await test.step('names are text', async () => {
    await view.getByRole('button', { name: '<img src=x' }).first().click();
    await expectText(page, view);
  });

  await expectNames(view);
  await picture(page, view, 'autotune');

  await test.step('to the kernel', async () => {
    await view.getByRole('button', { name: 'mm', exact: true }).last().click();
    await expect(page.getByRole('region', { name: 'Kernel mm' })).toBeVisible();
  });
});
