import { expect, test } from '@jupyterlab/galata';
import * as path from 'path';
import {
  choice,
  editor,
  editors,
  openSidebar,
  picker,
  sidebar,
  toggle
} from '../helpers/compilescope';
import { cell, open, run } from '../helpers/notebook';

/**
 * A flipped switch shows its sources within a second: what "at once" means for
 * the quickstart's subject, the first capture being made.
 */
const AT_ONCE = 1_000;

const QUICKSTART = path.resolve(
  __dirname,
  '../../../examples/quickstart.ipynb'
);

test('the quickstart, from the cell to the panel', async ({
  page,
  tmpPath
}) => {
  const notebook = `${tmpPath}/quickstart.ipynb`;
  await page.contents.uploadFile(QUICKSTART, notebook);
  await open(page, notebook);
  await openSidebar(page);
  // The text above, the extension, the model, the text, %%compile --no-run.
  for (const index of [1, 2, 4]) {
    await run(page, index);
  }

  await test.step('the cell shows its result', async () => {
    const output = cell(page, 4).locator('.jp-Cell-outputArea');
    await expect(output).toContainText('cpp_fused');
    await expect(output.locator('.jp-mod-error')).toHaveCount(0);
  });

  await test.step('both wrappers are open beside the notebook', async () => {
    await expect(editor(page, 'python')).toContainText('AOT ID', {
      timeout: 30_000
    });
    await expect(editor(page, 'cpp')).toContainText('#include');
    await expect(picker(page, 'Left side', 'variant')).toHaveValue('python');
    await expect(picker(page, 'Right side', 'variant')).toHaveValue('cpp');
  });

  await test.step('the sidebar knows the subject', async () => {
    const subject = sidebar(page).getByRole('option', { selected: true });
    await expect(subject).toContainText('Sequential');
    await expect(subject).toContainText('float32[32, 64]');
  });

  await test.step('cpp_wrapper flips the code at once', async () => {
    const wanted = toggle(page, 'cpp_wrapper');
    const isOn = await wanted.isChecked();
    const names = ['python', 'cpp'];
    for (const next of [!isOn, isOn]) {
      await wanted.setChecked(next);
      await expect(
        sidebar(page)
          .getByRole('row')
          .filter({ has: page.getByText(names[Number(next)], { exact: true }) })
          .first()
      ).toBeVisible();
    }
  });

  await test.step('a mode shows its own code at once', async () => {
    await choice(page, 'mode').selectOption('max-autotune-no-cudagraphs');
    const start = Date.now();
    await expect(
      editors(page).and(
        page.getByRole('textbox', { name: /max-autotune-no-cudagraphs/ })
      )
    ).toContainText(/AOT ID|#include/);
    test.info().annotations.push({
      type: 'sources after a switch',
      description: `${Date.now() - start} ms`
    });
    expect(Date.now() - start).toBeLessThan(AT_ONCE);
  });
});
