import { expect, type Locator, type Page } from '@playwright/test';

export type Side = 'Left side' | 'Right side';

/**
 * Show the sidebar.
 */
export async function openSidebar(page: Page): Promise<Locator> {
  const region = sidebar(page);
  if (!(await region.isVisible())) {
    await page.getByRole('tab', { name: 'Compilescope', exact: true }).click();
  }
  await expect(region).toBeVisible();
  return region;
}

/**
 * Open or close one of JupyterLab's sidebars. Galata goes through a menu, and gives
 * up after 15 s.
 */
export async function setSidebar(
  page: Page,
  side: 'left' | 'right',
  isOpen: boolean
): Promise<void> {
  await page.evaluate(
    ([side, isOpen]) => {
      const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
      const { shell } = app;
      if (side === 'left') {
        shell[isOpen ? 'expandLeft' : 'collapseLeft']();
      } else {
        shell[isOpen ? 'expandRight' : 'collapseRight']();
      }
    },
    [side, isOpen] as const
  );
}

interface IApp {
  shell: Record<
    'collapseLeft' | 'collapseRight' | 'expandLeft' | 'expandRight',
    () => void
  >;
}

/**
 * The sidebar.
 */
export function sidebar(page: Page): Locator {
  return page.getByRole('region', { name: 'Compilescope', exact: true });
}

/**
 * Turn the panel to the code: reports open on the Overview.
 */
export async function openCode(page: Page): Promise<void> {
  await page
    .getByRole('tab', { name: 'Code', exact: true })
    .filter({ visible: true })
    .click();
}

/**
 * What the sidebar lists as inspected.
 */
export function subjects(page: Page): Locator {
  return sidebar(page)
    .getByRole('listbox', { name: 'Inspected subjects' })
    .getByRole('option');
}

/**
 * The rows of the sidebar's table of variants, without its head.
 */
export function variants(page: Page): Locator {
  return sidebar(page).locator('.jp-Compilescope-variants tbody tr');
}

/**
 * A switch of torch.compile that is on or off.
 */
export function toggle(page: Page, name: string): Locator {
  return sidebar(page).getByRole('switch', { name });
}

/**
 * A switch of torch.compile with several values.
 */
export function choice(page: Page, name: string): Locator {
  return sidebar(page).getByRole('combobox', { name });
}

/**
 * The picker of the variant or the artifact that a side of the code view shows.
 */
export function picker(
  page: Page,
  side: Side,
  what: 'variant' | 'artifact'
): Locator {
  return page.getByRole('combobox', { name: `${side}: ${what}` });
}

/**
 * The editor with an artifact of a variant; both as the code view calls them.
 */
export function editor(page: Page, variant: string, artifact = ''): Locator {
  const name = new RegExp(`${artifact}.* of variant ${escape(variant)}$`);
  return page.getByRole('textbox', { name }).filter({ visible: true });
}

/**
 * Both editors of the code view, the left one first.
 */
export function editors(page: Page): Locator {
  return page
    .getByRole('textbox', { name: / of variant / })
    .filter({ visible: true });
}

/**
 * The lines with a text that are marked in an editor.
 */
export function marked(editor: Locator, text: string | RegExp): Locator {
  return editor.locator('.jp-Compilescope-code-strong').filter({
    hasText: text
  });
}

/**
 * What the kernel's main thread is at, as the sidebar tells.
 */
export function progress(page: Page, step: string | RegExp): Locator {
  return sidebar(page)
    .locator('.jp-Compilescope-progress')
    .getByRole('status')
    .filter({ hasText: step });
}

/**
 * Click the first line of an editor that contains a text.
 */
export async function clickLine(
  editor: Locator,
  text: string | RegExp
): Promise<void> {
  const line = editor.locator('.cm-line').filter({ hasText: text }).first();
  await line.scrollIntoViewIfNeeded();
  // Long lines reach out of the editor: click near their beginning. Playwright
  // waits until the line stands still: the other side scrolls along, and both
  // settle at one height.
  await line.click({ position: { x: 60, y: 5 } });
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
