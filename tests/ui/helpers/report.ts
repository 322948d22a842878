import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect, type Locator, type Page } from '@playwright/test';
import * as fs from 'fs';
import * as path from 'path';

/**
 * The folder of the reports that are stored for tests.
 */
const REPORTS = path.resolve(__dirname, '../../data/reports');

/**
 * Store a report in the server's folder and open it as by double click.
 *
 * @param file - A file of this machine, or the name of one of `tests/data/reports`
 * (`mlp`, `training`, `recompiles`, `breaks`).
 * @param folder - The server's folder to store it in; galata's `tmpPath`.
 * @returns The panel with its views.
 */
export async function openReport(
  page: IJupyterLabPageFixture,
  file: string,
  folder: string
): Promise<Locator> {
  const source = path.isAbsolute(file)
    ? file
    : path.join(REPORTS, `${file}.compilescope.json`);
  const stored = `${folder}/${path.basename(source)}`;
  await page.contents.uploadContent(
    fs.readFileSync(source, 'utf8'),
    'text',
    stored
  );
  return openStored(page, stored);
}

/**
 * Open a report's file of the server, and wait for its views.
 */
export async function openStored(page: Page, file: string): Promise<Locator> {
  await page.evaluate(async path => {
    const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
    app.shell.collapseLeft();
    await app.commands.execute('docmanager:open', { path });
  }, file);
  const panel = page.locator('.jp-Compilescope-document:visible');
  await expect(panel).toBeVisible();
  return panel;
}

/**
 * The views that have a tab in every report, and those under More.
 */
export const IN_THE_BAR = [
  'Overview',
  'Code',
  'Graph',
  'Kernels',
  'Timings',
  'Compile time',
  'Guards',
  'Recompiles & breaks',
  'Settings'
];
export const UNDER_MORE = [
  'Wrappers',
  'Changes',
  'Memory',
  'Compare & deploy',
  'Autotune',
  'Ahead of time',
  'Ranks',
  'Targets',
  'Trace'
];

/**
 * The tabs of the views in a panel.
 */
export function tabs(panel: Locator): Locator {
  return panel.getByRole('tablist', { name: 'Views' }).getByRole('tab');
}

/**
 * Turn to a view.
 *
 * @param name - Its label, without what is counted beside it.
 * @returns Its place.
 */
export async function openView(panel: Locator, name: string): Promise<Locator> {
  const label = new RegExp(`^${name}(\\d|$)`);
  const tab = tabs(panel).filter({ hasText: label });
  await expect(tabs(panel).first()).toBeVisible();
  const soon = { timeout: 10_000 };
  // A view that the report fills moves from the menu to the bar once it is loaded.
  await expect(async () => {
    if ((await tab.count()) > 0) {
      await tab.click(soon);
    } else {
      await panel.getByRole('button', { name: 'More views' }).click(soon);
      await panel
        .page()
        .locator('.lm-Menu-item')
        .filter({ hasText: new RegExp(`^${name}(…| \\(|$)`) })
        .click(soon);
    }
    await expect(tab).toHaveAttribute('aria-selected', 'true', soon);
  }).toPass({ timeout: 300_000 });
  return view(panel);
}

/**
 * The place of the view that is open.
 */
export function view(panel: Locator): Locator {
  return panel.locator('[role=tabpanel]:visible');
}

interface IApp {
  commands: { execute(id: string, args?: object): Promise<unknown> };
  shell: { collapseLeft(): void };
}
