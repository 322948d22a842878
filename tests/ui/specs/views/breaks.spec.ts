import { cell, openNotebook, runAll } from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import { expectNames, openView, picture } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

test.afterAll(({ request }) => shutDown(request));

/**
 * Five breaks, each of another kind.
 */
const FIVE = [
  '%load_ext compilescope',
  [
    'import torch',
    '',
    'def report(text):',
    '    print("so far:", text)',
    '',
    'def five(x):',
    '    y = x.sin() + 1',
    '    report("sine")',
    '    if y.sum() > 0:',
    '        y = y * 2',
    '    torch._dynamo.graph_break()',
    '    scale = float(y.max().item())',
    '    y = y.cos() / (1 + len(str(scale)))',
    '    y = y[y > 0]',
    '    return y + 1',
    '',
    'x = torch.randn(8, 8)'
  ].join('\n'),
  '%%compile --no-run --variants python\nfive(x)'
];

test('a function with five different graph breaks', async ({ page }) => {
  await openNotebook(page, SHARED, 'breaks.ipynb', FIVE);
  await runAll(page, FIVE.length);
  const view = await openView(
    page,
    'breaks',
    'Graph breaks',
    `${SHARED}/breaks.ipynb`
  );
  const cards = view.getByRole('article');

  await test.step('each once, with reason, hint and page', async () => {
    await expect(view.getByText('5 graph breaks')).toBeVisible();
    await expect(cards).toHaveCount(5);
    const print = cards.filter({ hasText: 'print("so far:", text)' });
    await expect(print).toContainText('What to do');
    await expect(
      print.getByRole('link', { name: 'torch’s documentation' })
    ).toHaveAttribute('rel', /noopener/);
    await expect(print.getByText('report("sine")').first()).toBeVisible();
  });

  await test.step('marked in the cell', async () => {
    const lines = cell(page, 1).locator('.cm-line');
    const marks = lines.filter({
      has: page.locator('.jp-Compilescope-breakTag')
    });
    await expect(marks).toHaveCount(5);
    await expect(marks.first()).toContainText('print("so far:", text)');
    await expect(
      marks.first().getByRole('note', { name: /^Graph break: / })
    ).toBeVisible();
  });

  await test.step('the line of a card is selected', async () => {
    const card = cards.filter({ hasText: 'float(y.max().item())' });
    await card
      .getByRole('button', { name: /^cell .*line/ })
      .first()
      .click();
    await expect(
      cell(page, 1).locator('.jp-Compilescope-cellLine')
    ).toContainText('item()');
    await expect(card).toHaveClass(/jp-mod-marked/);
  });

  await expectNames(view);
  await picture(page, view, 'breaks');

  await test.step('the marks go when the code is edited', async () => {
    await cell(page, 1).locator('.cm-line').first().click();
    await expect(cell(page, 1).locator('.cm-content')).toBeFocused();
    await page.keyboard.press('End');
    await page.keyboard.type('  # new');
    await expect(page.locator('.jp-Compilescope-breakTag')).toHaveCount(0);
  });

  await test.step('the graph before it', async () => {
    const graphs = cards.first().locator('.jp-Compilescope-graphs button');
    const id = await graphs.first().textContent();
    await graphs.first().click();
    await expect(
      page.getByRole('tab', { name: 'Graph', exact: true, selected: true })
    ).toBeVisible();
    await expect(
      page.getByRole('combobox', { name: 'Compilation' })
    ).toHaveValue(id!);
  });

  await test.step('from the count of kernels to those of all compilations', async () => {
    await page.getByRole('tab', { name: 'Overview', exact: true }).click();
    const count = page.getByRole('button', { name: / of \d+ kernels/ });
    const [all] = / \d+ kernels/.exec((await count.textContent())!)!;
    await count.click();
    const kernels = page.getByRole('region', { name: 'Kernels', exact: true });
    const totals = kernels.getByRole('status');
    await expect(totals).toContainText(new RegExp(`^${all.trim()},`));
    await page
      .getByRole('combobox', { name: 'Compilation' })
      .selectOption({ index: 1 });
    await expect(totals).not.toContainText(all.trim());
    await expect(totals).toContainText(/^\d+ kernels?,/);
  });
});
