import { expect, test } from '../../helpers/test';
import {
  openSidebar,
  subjects,
  toggle,
  variants
} from '../../helpers/compilescope';
import {
  notebook,
  openNotebook,
  runAll,
  SUBJECT
} from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';

test.afterAll(({ request }) => shutDown(request));

test('two tabs on one kernel see the same', async ({ page }) => {
  const path = await openNotebook(page, SHARED, 'pages.ipynb', SUBJECT);
  await openSidebar(page);
  await runAll(page, SUBJECT.length);
  const second = await page.context().newPage();
  await second.goto(`lab/workspaces/second/tree/${path}?reset`);
  await expect(notebook(second)).toBeVisible();
  await openSidebar(second);
  await expect(subjects(second).first()).toContainText('attend');
  await test.step('what one asks for, the other shows too', async () => {
    await toggle(page, 'fullgraph').check();
    for (const each of [page, second]) {
      await expect(variants(each)).toHaveCount(3);
    }
  });
  await test.step('closing one leaves the other connected', async () => {
    await second.close();
    await toggle(page, 'cpp_wrapper').check();
    await expect(variants(page)).toHaveCount(4);
  });
});

test('the sidebar and the panel follow the notebook in front', async ({
  page
}) => {
  await openSidebar(page);
  await openNotebook(page, SHARED, 'pages.ipynb', SUBJECT);
  await runAll(page, SUBJECT.length);
  await openNotebook(
    page,
    SHARED,
    'second.ipynb',
    SUBJECT.map(source => source.replace('attend', 'other'))
  );
  await runAll(page, SUBJECT.length);
  const subject = subjects(page).first();
  const notebook = (name: string) =>
    page.getByRole('tab', { name, exact: true });
  const panel = (name: string) =>
    page.getByRole('tab', { name: `${name}: Overview`, exact: true });
  await expect(subject).toContainText('other');
  // Beside the notebooks, which share a tab bar, their panels share one too.
  await expect(panel('second.ipynb')).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.lm-DockPanel-tabBar:visible')).toHaveCount(2);
  await notebook('pages.ipynb').click();
  await expect(subject).toContainText('attend');
  await expect(panel('pages.ipynb')).toHaveAttribute('aria-selected', 'true');
  await notebook('second.ipynb').click();
  await expect(subject).toContainText('other');
  await expect(panel('second.ipynb')).toHaveAttribute('aria-selected', 'true');
});
