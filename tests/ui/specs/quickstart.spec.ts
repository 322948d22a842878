import { expect, test } from '@jupyterlab/galata';
import type { Page } from '@playwright/test';
import * as path from 'path';
import {
  choice,
  editor,
  editors,
  openSidebar,
  picker,
  subjects,
  toggle,
  type Side
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
    const subject = subjects(page).and(
      page.getByRole('option', { selected: true })
    );
    await expect(subject).toContainText('Sequential');
    await expect(subject).toContainText('float32[32, 64]');
  });

  await test.step('a mode shows its own sources at once', async () => {
    const mode = 'max-autotune-no-cudagraphs';
    await atOnce(page, 'Left side', mode, () =>
      choice(page, 'mode').selectOption(mode)
    );
    await expect(editors(page).first()).toContainText('AOT ID');
    await expect(picker(page, 'Right side', 'variant')).toHaveValue('cpp');
  });

  await test.step('so does cpp_wrapper, on the right', async () => {
    await atOnce(page, 'Right side', 'max-autotune-no-cudagraphs', () =>
      toggle(page, 'cpp_wrapper').check()
    );
    await expect(editors(page).last()).toContainText('#include');
  });

  await test.step('and back again, to what is known', async () => {
    await atOnce(page, 'Right side', '^cpp$', () =>
      choice(page, 'mode').selectOption('default')
    );
    await atOnce(page, 'Left side', '^python$', () =>
      toggle(page, 'cpp_wrapper').uncheck()
    );
  });
});

/**
 * Flip a switch: a side shows the variant, and its text, at once. Timed in the
 * page, from the switch's event on; Playwright looks only now and then.
 */
async function atOnce(
  page: Page,
  side: Side,
  variant: string,
  flip: () => Promise<unknown>
): Promise<void> {
  const shown = page.evaluate(
    ({ label, variant }) =>
      new Promise<number>(resolve => {
        let start = 0;
        const look = () => {
          const picker = document.querySelector<HTMLSelectElement>(
            `select[aria-label="${label}"]`
          );
          const value = picker?.value ?? '';
          const isShown =
            new RegExp(variant).test(value) &&
            [...document.querySelectorAll('.cm-content')].some(node =>
              node.getAttribute('aria-label')?.endsWith(`variant ${value}`)
            );
          if (isShown) {
            resolve(performance.now() - start);
          } else {
            requestAnimationFrame(look);
          }
        };
        const onChange = () => {
          start = performance.now();
          requestAnimationFrame(look);
        };
        document.addEventListener('change', onChange, {
          capture: true,
          once: true
        });
      }),
    { label: `${side}: variant`, variant }
  );
  await flip();
  const elapsed = await shown;
  test.info().annotations.push({
    type: 'sources after a switch',
    description: `${variant}: ${Math.round(elapsed)} ms`
  });
  expect.soft(elapsed, variant).toBeLessThan(AT_ONCE);
}
