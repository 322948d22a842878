import { expect, test } from '@jupyterlab/galata';
import {
  editors,
  openSidebar,
  sidebar,
  subjects,
  variants
} from '../helpers/compilescope';
import {
  notebook,
  openNotebook,
  run,
  runAll,
  SUBJECT
} from '../helpers/notebook';

test('a reloaded page shows what was there', async ({ page, tmpPath }) => {
  await openNotebook(page, tmpPath, 'reload.ipynb', SUBJECT);
  await openSidebar(page);
  await runAll(page, SUBJECT.length);
  await expect(editors(page)).toHaveCount(2);
  await notebook(page).press('Control+s');
  // Galata's own reload waits for a launcher, which is not in front here.
  await page.evaluate(() => window.location.reload());
  await page.waitForURL(/lab/);
  await expect(subjects(page)).toHaveCount(1, {
    timeout: 30_000
  });
  await expect(subjects(page)).toContainText('attend');
  await expect(editors(page)).toHaveCount(2, { timeout: 30_000 });
  await expect(editors(page).first()).toContainText('AOT ID');
});

test('two tabs on one kernel see the same', async ({ page, tmpPath }) => {
  const path = await openNotebook(page, tmpPath, 'tabs.ipynb', SUBJECT);
  await openSidebar(page);
  await runAll(page, 2);
  const second = await page.context().newPage();
  await second.goto(`lab/workspaces/second/tree/${path}?reset`);
  await expect(notebook(second)).toBeVisible({ timeout: 30_000 });
  await openSidebar(second);
  await expect(sidebar(second)).toContainText('Nothing inspected yet');

  await run(page, 2);
  for (const each of [page, second]) {
    await expect(subjects(each)).toContainText('attend');
  }
  await test.step('closing one leaves the other connected', async () => {
    await second.close();
    await sidebar(page).getByRole('switch', { name: 'fullgraph' }).check();
    await expect(variants(page)).toHaveCount(3);
  });
});

test('the sidebar follows the notebook in front', async ({ page, tmpPath }) => {
  await openSidebar(page);
  await openNotebook(page, tmpPath, 'first.ipynb', SUBJECT);
  await runAll(page, SUBJECT.length);
  await openNotebook(
    page,
    tmpPath,
    'second.ipynb',
    SUBJECT.map(source => source.replace('attend', 'other'))
  );
  await runAll(page, SUBJECT.length);
  const subject = subjects(page);
  await expect(subject).toContainText('other');
  await page.getByRole('tab', { name: 'first.ipynb' }).click();
  await expect(subject).toContainText('attend');
  await page.getByRole('tab', { name: 'second.ipynb' }).click();
  await expect(subject).toContainText('other');
});
