import { execFileSync } from 'child_process';
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect, type Locator, type Page } from '@playwright/test';
import * as path from 'path';
import { setSidebar, sidebar } from './compilescope';
import { PICTURES, takePicture } from './pictures';
import { openStored, openView as openTab } from './report';

/**
 * Open a view of a report that holds all that the views can show, or that a
 * script of this folder writes.
 *
 * @param tab - What the view's tab says.
 * @param name - The view's name for screen readers.
 * @param folder - The server's folder to store the report in; galata's `tmpPath`.
 */
export async function openSample(
  page: IJupyterLabPageFixture,
  tab: string,
  name: string,
  folder: string,
  script = 'sample_report.py'
): Promise<Locator> {
  const report = execFileSync('python', [path.resolve(__dirname, script)], {
    encoding: 'utf8',
    maxBuffer: 1 << 26
  });
  const stored = `${folder}/made.compilescope.json`;
  await page.contents.uploadContent(report, 'text', stored);
  await openTab(await openStored(page, stored), tab);
  const region = page.getByRole('region', { name, exact: true });
  await expect(region).toBeVisible();
  return region;
}

/**
 * Open a view of a notebook's report.
 */
export async function openView(
  page: Page,
  view: string,
  name: string,
  notebook: string
): Promise<Locator> {
  await page.evaluate(
    async args => {
      const { jupyterapp: app } = window as unknown as {
        jupyterapp: {
          commands: { execute(id: string, args: object): Promise<unknown> };
        };
      };
      await app.commands.execute('compilescope:open-view', args);
    },
    { view, path: notebook }
  );
  const region = page.getByRole('region', { name, exact: true });
  await expect(region).toBeVisible();
  return region;
}

/**
 * Nothing of a view may reach out of it, also where it is as narrow as a
 * sidebar. If pictures are taken, these are light, dark and narrow.
 */
export async function picture(
  page: IJupyterLabPageFixture,
  region: Locator,
  name: string
): Promise<void> {
  const fits = async (kind: string) => {
    await takePicture(page, `${name}-${kind}`);
    const wide = () =>
      region.evaluate(node =>
        [node, ...node.querySelectorAll('.jp-Compilescope-table')]
          .filter(each => each.scrollWidth > each.clientWidth)
          .map(each => each.className)
      );
    // What measures its own width is drawn again after the page has another.
    await expect.poll(wide).toEqual([]);
  };
  await fits('light');
  if (PICTURES) {
    await page.theme.setDarkTheme();
    await fits('dark');
    await page.theme.setLightTheme();
  }
  const size = page.viewportSize()!;
  const clientWidth = () => region.evaluate(node => node.clientWidth);
  // A panel gets its share of the page some frames after it is there.
  let before = NaN;
  await expect
    .poll(async () => {
      const last = before;
      before = await clientWidth();
      return before === last;
    })
    .toBe(true);
  const isSidebarOpen = await sidebar(page).isVisible();
  // A notebook beside it takes a half, and the sidebar all but a strip.
  if (isSidebarOpen) {
    await setSidebar(page, 'right', false);
  }
  const isAlone = await page
    .locator('.jp-Compilescope-document:visible')
    .count();
  await page.setViewportSize({ width: isAlone ? 460 : 700, height: 900 });
  await expect.poll(clientWidth).toBeLessThan(420);
  await fits('narrow');
  await page.setViewportSize(size);
  if (isSidebarOpen) {
    await setSidebar(page, 'right', true);
  }
  await expect.poll(clientWidth).toBe(before);
}

/**
 * How many pixels wider a view's content is than its place.
 */
export function overflow(region: Locator): Promise<number> {
  return region.evaluate(node => node.scrollWidth - node.clientWidth);
}

/**
 * That nothing in a view was taken for markup.
 */
export async function expectText(page: Page, region: Locator): Promise<void> {
  await expect(region.getByText('<img src=x').first()).toBeVisible();
  await expect(region.locator('img')).toHaveCount(0);
  expect(await page.title()).not.toBe('evil');
}

/**
 * That every control of a view has a name.
 */
export async function expectNames(region: Locator): Promise<void> {
  const nameless = await region
    .locator('button, select, input, [role=tree], [role=grid], [tabindex="0"]')
    .evaluateAll(nodes =>
      nodes
        .filter(
          node =>
            !(
              node.getAttribute('aria-label') ??
              node.closest('label')?.textContent ??
              node.textContent
            )?.trim()
        )
        .map(node => node.outerHTML.slice(0, 200))
    );
  expect(nameless).toEqual([]);
}
