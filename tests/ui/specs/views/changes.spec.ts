import {
  choice,
  editor,
  openSidebar,
  sidebar,
  toggle
} from '../../helpers/compilescope';
import { openNotebook, runAll, SUBJECT } from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import { expectNames, openView, picture } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

test.afterAll(({ request }) => shutDown(request));

test('what a switch changed, at the switch and in a view', async ({ page }) => {
  const notebook = `${SHARED}/changes.ipynb`;
  await openNotebook(page, SHARED, 'changes.ipynb', SUBJECT);
  await runAll(page, SUBJECT.length);
  await openSidebar(page);
  const note = sidebar(page).locator('.jp-Compilescope-changed');

  await test.step('a flip, by keyboard, is told of in a sentence', async () => {
    const wrapper = toggle(page, 'cpp_wrapper');
    await wrapper.focus();
    await page.keyboard.press('Space');
    await expect(wrapper).toBeChecked();
    await expect(note).toContainText(
      /Compared with python: .* identical; the wrapper is C\+\+ instead of Python/
    );
    await page.keyboard.press('Tab');
    await expect(note.getByRole('button', { name: 'Changes' })).toBeFocused();
    await page.keyboard.press('Tab');
    await expect(choice(page, 'mode')).toBeFocused();
    await wrapper.uncheck();
    await expect(note).toHaveCount(0);
    await sidebar(page).getByText('on', { exact: true }).click();
    await expect(note).toContainText('1 differs');
    await expect(note).toContainText('guards differ');
  });

  await test.step('the view says which kernel, and why', async () => {
    await note.getByRole('button', { name: 'Changes' }).click();
    const view = await openView(page, 'changes', 'Changes', notebook);
    const rows = view.getByRole('grid').getByRole('row');
    await expect(rows.nth(1)).toContainText('differs');
    await rows.nth(1).click();
    const card = view.getByRole('article');
    await expect(card).toContainText('Sizes are arguments here');
    await expectNames(view);
    await picture(page, view, 'changes');
    await card.getByRole('button', { name: 'Compare in Code' }).click();
    await expect(editor(page, 'python')).toContainText('kernel');
    await expect(editor(page, 'python dynamic')).toContainText('ks0');
  });

  await test.step('how to have torch tune', async () => {
    const view = await openView(page, 'autotune', 'Autotune', notebook);
    await expect(view).toContainText('Nothing was autotuned');
    await view
      .getByRole('button', { name: 'Set mode to max-autotune' })
      .click();
    await expect(choice(page, 'mode')).toHaveValue('max-autotune');
    await choice(page, 'mode').selectOption('default');
  });

  await test.step('another backend has what is Inductor’s alone not', async () => {
    await sidebar(page).getByText('auto', { exact: true }).click();
    await choice(page, 'backend').selectOption('aot_eager');
    await expect(note).toContainText('generates no kernels');
    const view = await openView(page, 'kernels', 'Kernels', notebook);
    await expect(view).toContainText('Inductor only');
  });
});
