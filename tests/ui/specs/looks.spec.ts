import type { Locator } from '@playwright/test';
import {
  editors,
  openCode,
  openSidebar,
  sidebar
} from '../helpers/compilescope';
import { openNotebook, runAll, SUBJECT } from '../helpers/notebook';
import { takePicture } from '../helpers/pictures';
import { SHARED, shutDown } from '../helpers/shared';
import { expect, test } from '../helpers/test';

test.afterAll(({ request }) => shutDown(request));

test('both themes, and a name for every control', async ({ page }) => {
  await openNotebook(page, SHARED, 'looks.ipynb', SUBJECT);
  const panel = await openSidebar(page);
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
      // What the theme says, not a colour of our own.
      for (const part of [sidebar(page), editors(page).first()]) {
        await expect.poll(() => contrast(part, theme)).toBeGreaterThan(300);
      }
    });
  }

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

  await test.step('by keyboard', async () => {
    const toggle = panel.getByRole('switch', { name: 'cpp_wrapper' });
    const before = await toggle.isChecked();
    await toggle.focus();
    await page.keyboard.press('Space');
    await expect(toggle).toBeChecked({ checked: !before });
    const changed = panel.getByRole('button', { name: 'Changes' });
    await expect(changed).toBeVisible();
    await page.keyboard.press('Tab');
    await expect(changed).toBeFocused();
    await page.keyboard.press('Tab');
    await expect(panel.getByRole('combobox', { name: 'mode' })).toBeFocused();
  });
});

/**
 * How far text stands out from what is behind it, as the theme has it: dark on
 * light, or light on dark.
 */
function contrast(part: Locator, theme: 'light' | 'dark'): Promise<number> {
  return part.evaluate((node, theme) => {
    const light = (colour: string) =>
      (colour.match(/\d+/g) ?? [])
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
