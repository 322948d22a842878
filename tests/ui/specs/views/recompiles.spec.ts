import { openReport, openView } from '../../helpers/report';
import { expectNames, picture } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

test('a training loop with changing batch sizes', async ({ page, tmpPath }) => {
  const panel = await openReport(page, 'recompiles', tmpPath);
  await openView(panel, 'Recompiles & breaks');
  const view = panel.getByRole('region', { name: 'Recompiles', exact: true });
  const cards = view.getByRole('article');
  const timeline = view.getByRole('grid', { name: /^Compilations by frame/ });

  await test.step('what failed, old and new', async () => {
    await expect(view).toContainText('3 recompiles in the cell, in one frame');
    await expect(cards).toHaveCount(3);
    await expect(cards.first()).toContainText('x.size(0): 8 → 12');
    await expect(cards.nth(1)).toContainText('rate: 0.1 → 0.05');
    await expect(
      cards
        .first()
        .getByRole('meter', { name: /^compiled 2 of at most 8 times/ })
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
