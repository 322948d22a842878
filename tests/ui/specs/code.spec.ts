import {
  clickLine,
  editor,
  editors,
  marked,
  openCode,
  openSidebar,
  picker
} from '../helpers/compilescope';
import { cell, openNotebook, runAll, SUBJECT } from '../helpers/notebook';
import { SHARED, shutDown } from '../helpers/shared';
import { expect, test } from '../helpers/test';

test.afterAll(({ request }) => shutDown(request));

test('artifacts side by side', async ({ page }) => {
  await openNotebook(page, SHARED, 'code.ipynb', SUBJECT);
  await openSidebar(page);
  await runAll(page, SUBJECT.length);
  await openCode(page);
  await expect(editors(page)).toHaveCount(2);

  await test.step('a line that is clicked marks its partners', async () => {
    const python = editor(page, 'python');
    const cpp = editor(page, 'cpp');
    await test.step('from the Python wrapper', async () => {
      await clickLine(python, /extern_kernels\.mm\(/);
      await expect(marked(python, 'extern_kernels.mm(').first()).toBeVisible();
      await expect(marked(cpp, 'mm_out').first()).toBeVisible();
      const source = cell(page, 1).locator('.jp-Compilescope-cellLine');
      await expect(source).toContainText('x @ y');
    });
    await test.step('from the C++ wrapper', async () => {
      await clickLine(cpp, /^\s*cpp_fused_\w+\(/);
      await expect(marked(python, /^\s*cpp_fused_\w+\(/).first()).toBeVisible();
    });
    await test.step('from the cell', async () => {
      await clickLine(cell(page, 1).locator('.cm-content'), 'x @ y');
      await expect(marked(python, 'extern_kernels.mm(').first()).toBeVisible();
      await expect(marked(cpp, 'mm_out').first()).toBeVisible();
    });
  });

  await test.step('kernels fold, texts are searched and copied', async () => {
    const python = editor(page, 'python');
    const left = page.getByRole('toolbar', { name: 'Left side' });
    await test.step('fold', async () => {
      const folded = page.locator('.jp-Compilescope-code-folded');
      await left.getByRole('button', { name: 'Unfold kernels' }).click();
      await python.press('Control+Home');
      await expect(python).toContainText('#pragma');
      await left
        .getByRole('button', { name: 'Fold kernels', exact: true })
        .click();
      await expect(folded.first()).toBeVisible();
      await expect(python).not.toContainText('#pragma');
    });
    await test.step('search', async () => {
      await left.getByRole('button', { name: 'Search' }).click();
      await page.keyboard.type('assert_size_stride');
      await page.keyboard.press('Enter');
      await expect(python.locator('.cm-searchMatch').first()).toBeVisible();
      await page.keyboard.press('Escape');
    });
    await test.step('copy', async () => {
      await left.getByRole('button', { name: 'Copy all' }).click();
      await expect
        .poll(() => page.evaluate(() => navigator.clipboard.readText()))
        .toContain('extern_kernels.mm(');
    });
  });

  await test.step('two variants of one artifact show as a text diff', async () => {
    await picker(page, 'Left side', 'artifact').selectOption('graph.post_grad');
    await picker(page, 'Right side', 'artifact').selectOption(
      'graph.post_grad'
    );
    const modes = page.getByRole('group', { name: 'How to compare' });
    await expect(modes.getByRole('button', { name: 'Diff' })).toHaveAttribute(
      'aria-pressed',
      'true'
    );
    const summary = page
      .getByRole('toolbar', { name: 'Comparison' })
      .getByRole('status');
    await expect(summary).toContainText(/Identical|\d+ changes?/);
    await picker(page, 'Right side', 'artifact').selectOption('graph.dynamo');
    await modes.getByRole('button', { name: 'Diff' }).click();
    await expect(summary).toContainText(/\d+ changes?/);
  });

  await test.step('either side shows any artifact of the report', async () => {
    await picker(page, 'Left side', 'artifact').selectOption('python');
    const right = picker(page, 'Right side', 'artifact');
    const names = await right
      .locator('option')
      .evaluateAll(options => options.map(o => (o as HTMLOptionElement).value));
    expect(names).toEqual(
      expect.arrayContaining([
        'cpp',
        'shell',
        'graph.dynamo',
        'graph.post_grad'
      ])
    );
    expect(names.some(name => name.startsWith('kernel.'))).toBe(true);
    for (const name of names) {
      await right.selectOption(name);
      await expect(editors(page).last()).not.toBeEmpty();
    }
  });
});
