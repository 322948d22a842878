import { openSidebar, sidebar, subjects } from '../../helpers/compilescope';
import { cell, openNotebook, run } from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import { expect, test } from '../../helpers/test';

const CELLS = [
  '%load_ext compilescope\nimport torch\nx = torch.ones(3)',
  [
    '@torch.compile(backend="eager", dynamic=False)',
    'def watched(x):',
    '    return x + 1',
    '',
    'watched(x);'
  ].join('\n'),
  'watched(torch.ones(4));',
  'import compilescope as cs\nwith cs.watch():\n    watched(torch.ones(5))'
];

test.afterAll(({ request }) => shutDown(request));

test('what any code compiles shows in the sidebar as it happens', async ({
  page
}) => {
  await openNotebook(page, SHARED, 'watch.ipynb', CELLS);
  await openSidebar(page);
  await run(page, 0);
  const toggle = sidebar(page).getByRole('switch', {
    name: 'Watch all compilations'
  });
  const rows = sidebar(page)
    .getByRole('list', { name: /latest compilations/ })
    .getByRole('listitem');
  await expect(toggle).toBeEnabled();
  await toggle.click();
  await expect(toggle).toBeChecked();
  await expect(subjects(page)).toContainText('watch');

  await test.step('newest first, with why it was compiled again', async () => {
    await run(page, 1);
    await expect(rows).toHaveCount(1);
    await run(page, 2);
    await expect(rows).toHaveCount(2);
    await expect(rows.first()).toContainText('recompile');
    await expect(rows.last()).not.toContainText('recompile');
  });

  await test.step('a click turns the views to it, and to the cell', async () => {
    await rows.first().getByRole('button').first().click();
    await expect(rows.first().getByRole('button').first()).toHaveAttribute(
      'aria-current',
      'true'
    );
    await rows
      .last()
      .getByRole('button', { name: /torch.compile/ })
      .click();
    const marked = cell(page, 1).locator('.jp-Compilescope-cellLine');
    await expect(marked).toContainText('@torch.compile');
  });

  await test.step('off keeps what was seen, clear empties it', async () => {
    await toggle.click();
    await expect(toggle).not.toBeChecked();
    await expect(rows).toHaveCount(2);
    await sidebar(page)
      .getByRole('button', { name: 'Clear the recorded compilations' })
      .click();
    await expect(rows).toHaveCount(0);
  });

  await test.step('a block that ends is offered, and takes nothing away', async () => {
    const chosen = subjects(page).and(
      page.getByRole('option', { selected: true })
    );
    const before = await chosen.textContent();
    await run(page, 3);
    const offer = page
      .getByRole('status')
      .filter({ hasText: 'The report of watch 1 is complete.' });
    await expect(offer).toBeVisible();
    await expect(chosen).toHaveText(before!);
    await offer.getByRole('button', { name: 'Show it' }).click();
    await expect(offer).toHaveCount(0);
    await expect(chosen).toContainText('watch 1');
  });
});
