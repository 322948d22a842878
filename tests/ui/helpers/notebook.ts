import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { expect, type Locator, type Page } from '@playwright/test';

/**
 * A kernel that the test server offers.
 */
export type KernelName =
  'python3' | 'no-compilescope' | 'no-subshells' | 'other-language';

const LANGUAGES: Record<KernelName, string> = {
  python3: 'python',
  'no-compilescope': 'python',
  'no-subshells': 'python',
  'other-language': 'echo'
};

/**
 * The cells of a notebook with a subject whose source is in a cell of its own.
 */
export const SUBJECT = [
  '%load_ext compilescope',
  [
    'import torch',
    '',
    'def attend(x, y):',
    '    scores = torch.relu(x @ y)',
    '    return scores.softmax(-1)',
    '',
    'x, y = torch.randn(16, 32), torch.randn(32, 16)'
  ].join('\n'),
  '%%compile --no-run\nattend(x, y)'
];

/**
 * The cells of a notebook with a model, for tests that build: what one of them has
 * built is not compiled again.
 */
export const MODEL = [
  '%load_ext compilescope',
  `import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64), nn.LayerNorm(64))
model.eval().requires_grad_(False)
x = torch.randn(32, 64)`,
  '%%compile --no-run\nmodel(x)'
];

/**
 * What tests change in a notebook's file.
 */
interface INotebookFile {
  cells: { outputs: object[] }[];
  [field: string]: unknown;
}

/**
 * A notebook's file, as an object.
 */
export function notebookOf(
  cells: readonly string[],
  kernel: KernelName = 'python3'
): INotebookFile {
  return {
    cells: cells.map((source, index) => ({
      cell_type: 'code',
      execution_count: null,
      id: `cell-${index}`,
      metadata: {},
      outputs: [],
      source
    })),
    metadata: {
      kernelspec: {
        display_name: kernel,
        language: LANGUAGES[kernel],
        name: kernel
      }
    },
    nbformat: 4,
    nbformat_minor: 5
  };
}

/**
 * Store a notebook and open it.
 *
 * @returns Its path.
 */
export async function openNotebook(
  page: IJupyterLabPageFixture,
  folder: string,
  name: string,
  cells: readonly string[],
  kernel: KernelName = 'python3'
): Promise<string> {
  const path = `${folder}/${name}`;
  const notebook = JSON.stringify(notebookOf(cells, kernel));
  await page.contents.uploadContent(notebook, 'text', path);
  await open(page, path);
  return path;
}

/**
 * What is used of JupyterLab's application object.
 */
interface IApp {
  commands: { execute(id: string, args?: object): Promise<unknown> };
  shell: {
    collapseLeft(): void;
    /** What has the focus; only a notebook has the rest. */
    currentWidget: ({ id: string } & Partial<INotebook>) | null;
  };
}

/**
 * What is used of an open notebook.
 */
interface INotebook {
  id: string;
  context: { ready: Promise<void> };
  sessionContext: {
    ready: Promise<void>;
    session: { kernel: { info: Promise<unknown>; status: string } } | null;
  };
}

/**
 * Open a notebook of the server, and wait for its kernel.
 */
export async function open(page: Page, path: string): Promise<void> {
  const opened = await page.evaluate(async path => {
    const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
    const { id, context, sessionContext } = (await app.commands.execute(
      'docmanager:open',
      { path }
    )) as INotebook;
    // Room for the two sides of the code view.
    app.shell.collapseLeft();
    // The indicator of the toolbar says "idle" before there is a kernel.
    await context.ready;
    await sessionContext.ready;
    await sessionContext.session?.kernel.info;
    return id;
  }, path);
  // It is the current widget once it has the focus, which may be later.
  await expect
    .poll(() =>
      page.evaluate(() => {
        const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
        return app.shell.currentWidget?.id;
      })
    )
    .toBe(opened);
  await waitForKernel(page);
}

/**
 * Load the page anew.
 *
 * Until the new one is there the old one still answers: what is looked at too
 * early is looked at in the old page, or lost with it. Galata's own reload waits
 * for a launcher, which is not in front here.
 */
export async function reload(page: Page): Promise<void> {
  const loaded = page.waitForEvent('domcontentloaded');
  await page.evaluate(() => {
    setTimeout(() => window.location.reload());
  });
  await loaded;
}

/**
 * Wait until the kernel of the notebook in front has nothing to do.
 */
export async function waitForKernel(page: Page): Promise<void> {
  await expect
    .poll(
      () =>
        page.evaluate(() => {
          const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
          return app.shell.currentWidget?.sessionContext?.session?.kernel
            .status;
        }),
      { intervals: [50] }
    )
    .toBe('idle');
}

/**
 * The notebook that can be seen.
 */
export function notebook(page: Page): Locator {
  return page.locator('.jp-NotebookPanel:not(.lm-mod-hidden)');
}

/**
 * A cell of the notebook, from 0.
 */
export function cell(page: Page, index: number): Locator {
  return notebook(page).locator('.jp-Cell').nth(index);
}

/**
 * Start a cell, without waiting for its end.
 */
export async function start(page: Page, index: number): Promise<void> {
  await activate(page, index);
  await command(page, 'notebook:run-cell');
}

/**
 * Run a cell to its end.
 */
export async function run(page: Page, index: number): Promise<void> {
  await activate(page, index);
  // The prompt alone does not tell: after a restart the count is the same.
  await page.evaluate(async () => {
    const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
    await app.commands.execute('notebook:run-cell');
  });
  const prompt = cell(page, index).locator('.jp-InputPrompt');
  await expect(prompt).toHaveText(/\[\d+\]:/);
}

async function activate(page: Page, index: number): Promise<void> {
  await cell(page, index).locator('.jp-InputPrompt').click();
  await expect(cell(page, index)).toHaveClass(/jp-mod-active/);
}

/**
 * Run cells to their end, one after the other.
 */
export async function runAll(page: Page, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await run(page, index);
  }
}

/**
 * Start a command of JupyterLab, as its palette and menus do: it may open a dialog.
 */
export async function command(
  page: Page,
  id: string,
  args: Record<string, string> = {}
): Promise<void> {
  await page.evaluate(
    ({ id, args }) => {
      const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
      void app.commands.execute(id, args);
    },
    { id, args }
  );
}
