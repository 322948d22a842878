import type { Locator } from '@playwright/test';
import {
  clickLine,
  editor,
  editors,
  marked,
  openCode,
  openSidebar,
  picker,
  sidebar
} from '../../helpers/compilescope';
import { cell, openNotebook, runAll, SUBJECT } from '../../helpers/notebook';
import { takePicture } from '../../helpers/pictures';
import { SHARED, shutDown } from '../../helpers/shared';
import { expect, test } from '../../helpers/test';

test.afterAll(({ request }) => shutDown(request));

test('artifacts side by side', async ({ page }) => {
  await openNotebook(page, SHARED, 'code.ipynb', SUBJECT);
  await openSidebar(page);
  await runAll(page, SUBJECT.length);
  await openCode(page);
  await expect(editors(page)).toHaveCount(2);
  // Both open where the kernels are launched.
  for (const each of await editors(page).all()) {
    const launch = each.locator('.cm-line').filter({ hasText: /mm(_out)?\(/ });
    await expect(launch.first()).toBeInViewport();
  }
  for (const theme of ['light', 'dark'] as const) {
    await test.step(theme, async () => {
      await (theme === 'dark'
        ? page.theme.setDarkTheme()
        : page.theme.setLightTheme());
      // A picture to look at, not to compare: fonts differ from machine to machine.
      await takePicture(page, theme);
      // What the theme says, not a color of our own.
      for (const part of [sidebar(page), editors(page).first()]) {
        await expect.poll(() => contrast(part, theme)).toBeGreaterThan(300);
      }
    });
  }

  await test.step('every control has a name', async () => {
    const controls = page.locator(
      '[class*=jp-Compilescope] :is(button, select, input, [role=option], [role=textbox])'
    );
    const nameless = await controls.evaluateAll(nodes =>
      nodes
        .filter(node => (node as HTMLElement).offsetParent !== null)
        .filter(node => {
          const label =
            node.getAttribute('aria-label') ??
            node.getAttribute('aria-labelledby') ??
            node.closest('label')?.textContent ??
            node.textContent;
          return !label?.trim();
        })
        .map(node => node.outerHTML.slice(0, 200))
    );
    expect(nameless).toEqual([]);
  });

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
      await expect(
        page.locator('.cm-search input[name=search]:visible')
      ).toBeFocused();
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

/**
 * How far text stands out from what is behind it, as the theme has it: dark on
 * light, or light on dark.
 */
function contrast(part: Locator, theme: 'light' | 'dark'): Promise<number> {
  return part.evaluate((node, theme) => {
    const light = (color: string) =>
      (color.match(/\d+/g) ?? [])
        .slice(0, 3)
        .reduce((sum, each) => sum + Number(each), 0);
    let own = node;
    while (
      getComputedStyle(own).backgroundColor === 'rgba(0, 0, 0, 0)' &&
      own.parentElement
    ) {
      own = own.parentElement as HTMLElement;
    }
    const ink = light(getComputedStyle(node).color);
    const paper = light(getComputedStyle(own).backgroundColor);
    return theme === 'dark' ? ink - paper : paper - ink;
  }, theme);
}
