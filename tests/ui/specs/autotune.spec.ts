import { choice, openSidebar } from '../helpers/compilescope';
import { openNotebook, runAll, SUBJECT } from '../helpers/notebook';
import { SHARED, shutDown } from '../helpers/shared';
import {
  expectNames,
  expectText,
  openMade,
  openView,
  picture
} from '../helpers/views';
import { expect, test } from '../helpers/test';

test.afterAll(({ request }) => shutDown(request));

test('what torch chose by measuring', async ({ page, tmpPath }) => {
  const view = await openMade(page, 'Autotune', 'Autotune', tmpPath);
  const table = view.getByRole('table', { name: 'Candidates for mm' });

  await test.step('the chosen one first, the others with why not', async () => {
    await expect(view).toContainText('3 autotunings');
    await expect(table.getByRole('row').nth(1)).toContainText(
      'chosen: triton_mm_0'
    );
    const library = table.getByRole('row', { name: /extern call/ });
    await expect(library).toContainText('1.50 times the best');
    await view.getByRole('button', { name: 'Show all 41' }).click();
    await expect(table.getByRole('row')).toHaveCount(42);
  });

  await test.step('what was skipped, and why', async () => {
    await view.getByRole('button', { name: 'addmm' }).click();
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

test('how to have torch tune', async ({ page }) => {
  const path = await openNotebook(page, SHARED, 'tune.ipynb', SUBJECT);
  await openSidebar(page);
  await runAll(page, SUBJECT.length);
  const view = await openView(page, 'autotune', 'Autotune', path);
  await expect(view).toContainText('Nothing was autotuned');
  await view.getByRole('button', { name: 'Set mode to max-autotune' }).click();
  await expect(choice(page, 'mode')).toHaveValue('max-autotune');
});
