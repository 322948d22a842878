import { cell, openNotebook, runAll } from '../helpers/notebook';
import { SHARED, shutDown } from '../helpers/shared';
import { expectNames, openView, picture } from '../helpers/views';
import { expect, test } from '../helpers/test';

test.afterAll(({ request }) => shutDown(request));

const LOOP = [
  '%load_ext compilescope',
  [
    'import torch',
    'torch._dynamo.reset()',
    'weight = torch.randn(16, 4, requires_grad=True)',
    '',
    '@torch.compile',
    'def step(x, scale):',
    '    return ((x @ weight) ** 2).mean() * scale'
  ].join('\n'),
  '%compilescope watch',
  [
    'for size, scale in [(8, 1.0), (12, 1.0), (12, 0.5), (5, 0.25)]:',
    '    step(torch.randn(size, 16), scale).backward()'
  ].join('\n'),
  '%compilescope off'
];

test('a training loop with changing batch sizes', async ({ page }) => {
  await openNotebook(page, SHARED, 'recompiles.ipynb', LOOP);
  await runAll(page, LOOP.length);
  const view = await openView(
    page,
    'recompiles',
    'Recompiles',
    `${SHARED}/recompiles.ipynb`
  );
  const cards = view.getByRole('article');
  const timeline = view.getByRole('grid', { name: /^Compilations by frame/ });

  await test.step('what failed, old and new', async () => {
    await expect(view).toContainText('2 recompiles in one frame');
    await expect(cards).toHaveCount(2);
    await expect(cards.first()).toContainText('x.size(0): 8 → 12');
    await expect(cards.nth(1)).toContainText('scale: 1.0 → 0.5');
    await expect(
      cards.first().getByRole('meter', { name: /^2 of 8/ })
    ).toBeVisible();
  });

  await test.step('along the time line, by keys', async () => {
    await timeline.focus();
    await page.keyboard.press('End');
    const chosen = timeline.getByRole('gridcell', { selected: true });
    await expect(chosen).toHaveCount(1);
    await page.keyboard.press('ArrowRight');
    await expect(chosen).toHaveAccessibleName(
      /recompiled: x\.size\(0\): 8 → 12/
    );
    await expect(
      page.getByRole('combobox', { name: 'Compilation' })
    ).toHaveValue('0/1');
  });

  await test.step('advice to copy, and where it goes', async () => {
    const advice = cards
      .first()
      .getByRole('complementary', { name: 'What to change' });
    await expect(advice.first()).toContainText('mark_dynamic');
    await expect(
      advice.first().getByRole('button', { name: 'Copy' })
    ).toBeVisible();
  });

  await test.step('the line that made torch guard it', async () => {
    await cards.first().getByRole('table').getByRole('button').last().click();
    await expect(
      cell(page, 1).locator('.jp-Compilescope-cellLine')
    ).toContainText('x @ weight');
  });

  await expectNames(view);
  await picture(page, view, 'recompiles');

  await test.step('two compilations of the frame, as a diff', async () => {
    await cards
      .first()
      .getByRole('button', { name: 'Compare with 0/0' })
      .click();
    const compare = view.getByRole('region', { name: '0/0 against 0/1' });
    await expect(compare.getByRole('textbox')).toHaveCount(2);
    await expect(compare.getByText(/^\d+ changes?$/)).toBeVisible();
    await expect(compare).toBeInViewport();
    await compare
      .getByRole('combobox', { name: 'Text' })
      .selectOption({ label: 'Graph: Dynamo' });
    await expect(compare.locator('.cm-changedText').first()).toBeVisible();
    await picture(page, view, 'recompiles-diff');
    await compare.getByRole('button', { name: 'Close the comparison' }).click();
    await expect(compare).toHaveCount(0);
  });

  await test.step('to the guards that failed', async () => {
    await cards
      .first()
      .getByRole('button', { name: '0/0', exact: true })
      .click();
    await expect(
      page.getByRole('tab', { name: 'Guards', exact: true, selected: true })
    ).toBeVisible();
    await expect(
      page.getByRole('combobox', { name: 'Compilation' })
    ).toHaveValue('0/0');
  });
});
