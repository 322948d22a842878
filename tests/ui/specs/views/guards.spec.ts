import { EVIL, writeManyGuards } from '../../helpers/guards';
import { cell, openNotebook, runAll, SUBJECT } from '../../helpers/notebook';
import { takePicture } from '../../helpers/pictures';
import { openReport, openView as turnTo } from '../../helpers/report';
import { SHARED, shutDown } from '../../helpers/shared';
import {
  expectNames,
  expectText,
  openView,
  overflow,
  picture
} from '../../helpers/views';
import { expect, test } from '../../helpers/test';

test.afterAll(({ request }) => shutDown(request));

test('the guards of a call, and what if it was another', async ({ page }) => {
  const cells = SUBJECT;
  await openNotebook(page, SHARED, 'guards.ipynb', cells);
  await runAll(page, cells.length);
  const view = await openView(
    page,
    'guards',
    'Guards',
    `${SHARED}/guards.ipynb`
  );
  const tree = view.getByRole('tree', { name: 'Guards, as torch’s tree' });
  const field = view.getByRole('combobox', { name: /^Other arguments/ });
  const answer = view.locator('.jp-Compilescope-answer');

  await test.step('as torch has them', async () => {
    await expect(tree.getByRole('treeitem').first()).toContainText(
      'RootGuardManager'
    );
    await expect(
      tree.getByRole('treeitem').filter({ hasText: 'check_tensor' }).first()
    ).toBeVisible();
  });

  await test.step('the same call is served', async () => {
    await field.fill('x, y');
    await field.press('Enter');
    await expect(answer).toContainText('Reuses 0/0');
  });

  await test.step('another is not: which guard, with both values', async () => {
    await field.fill('x[:2], y');
    await field.press('Enter');
    await expect(answer).toContainText('Recompiles');
    const row = answer.getByRole('row').nth(1);
    await expect(row.getByRole('cell').nth(1)).toContainText('16');
    await expect(row.getByRole('cell').nth(2)).toContainText('2');
    await row.getByRole('button').click();
    const chosen = tree.locator('[aria-selected=true]');
    await expect(chosen).toContainText("check_tensor(L['x']");
    await expect(chosen).toBeInViewport();
  });

  await test.step('an error of the expression is told', async () => {
    await field.fill('nobody');
    await field.press('Enter');
    await expect(answer).toContainText('nobody');
    await expect(answer.getByRole('img', { name: 'Error' })).toBeVisible();
    await expect(view.getByText('2 earlier tries')).toBeVisible();
  });

  await test.step('what is selected in the notebook is taken', async () => {
    await field.fill('');
    await cell(page, 2).locator('.cm-line').last().dblclick();
    await expect(cell(page, 2).locator('.cm-content')).toBeFocused();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
    await view.getByRole('button', { name: 'Use the selection' }).click();
    await expect(field).toHaveValue('attend(x, y)');
  });

  await test.step('nothing was run or compiled', async () => {
    await expect(
      page.getByRole('combobox', { name: 'Compilation' }).locator('option')
    ).toHaveCount(1);
  });

  await test.step('a selected line marks its guards, and the other way', async () => {
    await tree
      .getByRole('treeitem')
      .filter({ hasText: "check_tensor(L['x']" })
      .click();
    await expect(
      cell(page, 1).locator('.jp-Compilescope-cellLine')
    ).toContainText('x @ y');
    await expect(tree.locator('.jp-mod-marked').first()).toBeVisible();
  });

  await expectNames(view);
  await field.fill('x[:2], y');
  await field.press('Enter');
  await expect(answer).toContainText('Recompiles');
  await picture(page, view, 'guards');
});

test('5,000 guards, of a file', async ({ page, tmpPath }, info) => {
  const file = info.outputPath('many.compilescope.json');
  writeManyGuards(file, 5000);
  const panel = await openReport(page, file, tmpPath);
  await turnTo(panel, 'Guards');
  const view = panel.getByRole('region', { name: 'Guards', exact: true });
  await expect(view.getByRole('strong')).toHaveText('5,000 guards');
  const rows = view.locator('.jp-Compilescope-tableRow');

  await test.step('few of which are drawn', async () => {
    expect(await rows.count()).toBeLessThan(120);
    await expectText(page, view);
  });

  await test.step('there is no kernel to ask what if', async () => {
    await expect(
      view.getByRole('combobox', { name: /^Other arguments/ })
    ).toBeDisabled();
    await expect(view).toContainText('it is not connected');
  });

  await test.step('filter', async () => {
    await view.getByRole('searchbox').fill('layers[1234]');
    await expect(view.getByRole('treeitem')).toHaveCount(4);
    await view.getByRole('searchbox').fill('');
    await view.getByRole('checkbox', { name: 'Failed only' }).check();
    await expect(
      view.getByRole('treeitem').filter({ hasText: 'check_tensor' })
    ).toHaveCount(10);
    await view.getByRole('checkbox', { name: 'Failed only' }).uncheck();
    await view.getByRole('checkbox', { name: 'Python only' }).check();
    await expect(
      view.getByRole('treeitem').filter({ hasText: 'Python' }).first()
    ).toBeVisible();
    await view.getByRole('checkbox', { name: 'Python only' }).uncheck();
  });

  await test.step('a table, sorted by cost and walked by keys', async () => {
    await view.getByRole('combobox', { name: 'Show as' }).selectOption('table');
    const grid = view.getByRole('grid', { name: 'Guards' });
    await expect(grid).toHaveAttribute('aria-rowcount', '5001');
    await grid.getByRole('button', { name: 'Cost' }).click();
    await expect(rows.first()).toContainText('64 ns');
    await grid.focus();
    await page.keyboard.press('End');
    await expect(rows.last()).toBeInViewport();
    await expect(grid.getByText(EVIL).first()).toBeInViewport();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await expect(
      view.getByRole('region', { name: 'Selected guard' })
    ).toContainText('GetItemGuardAccessor');
  });

  await test.step('by source', async () => {
    await view
      .getByRole('combobox', { name: 'Show as' })
      .selectOption('source');
    await expect(
      view.getByRole('tree', { name: 'Guards by source' })
    ).toBeVisible();
    expect(await rows.count()).toBeLessThan(120);
  });
  await expectNames(view);

  await test.step('as narrow as can be', async () => {
    await takePicture(page, 'guards-many-wide');
    await page.setViewportSize({ width: 400, height: 900 });
    await expect
      .poll(() => view.evaluate(node => node.clientWidth))
      .toBeLessThan(340);
    await takePicture(page, 'guards-many-narrow');
    await expect.poll(() => overflow(view)).toBe(0);
  });
});
