import { openSidebar } from '../../helpers/compilescope';
import { openNotebook, run } from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import { expect, test } from '../../helpers/test';

test.afterAll(({ request }) => shutDown(request));

test('the doctor’s dialog fills while the kernel stays usable', async ({
  page
}) => {
  await openNotebook(page, SHARED, 'doctor.ipynb', [
    '%load_ext compilescope\nimport torch\ntorch.ones(3).sum()',
    'print(6 * 7)'
  ]);
  await openSidebar(page);
  await run(page, 0);
  await page.waitForFunction(() =>
    window.jupyterapp.commands.isEnabled('compilescope:doctor')
  );
  await page.evaluate(() => {
    void window.jupyterapp.commands.execute('compilescope:doctor');
  });
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Compilescope Doctor');
  const rows = dialog.locator('li[data-state]');
  await expect(rows.first()).toBeVisible();

  await test.step('every subject comes, and nothing failed to look', async () => {
    await expect(dialog.locator('[aria-busy=false]')).toBeVisible();
    for (const subject of ['C++ compiler', 'Cache folders', 'Notebook']) {
      await expect(dialog.getByRole('region', { name: subject })).toBeVisible();
    }
    await expect(dialog).not.toContainText('The check itself failed');
    // The page and the kernel are of one build here.
    await expect(
      rows.filter({ hasText: 'front end' }).locator('.jp-Compilescope-badge')
    ).toHaveText('ok');
  });

  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(dialog).toBeHidden();
  await run(page, 1);
});
