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
  const notebook = {
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
  await page.contents.uploadContent(JSON.stringify(notebook), 'text', path);
  await open(page, path);
  return path;
}

/**
 * Open a notebook of the server, and wait for its kernel.
 */
export async function open(page: Page, path: string): Promise<void> {
  await page.evaluate(async path => {
    const { jupyterapp } = window as unknown as {
      jupyterapp: {
        commands: { execute(id: string, args: object): Promise<unknown> };
      };
    };
    await jupyterapp.commands.execute('docmanager:open', { path });
  }, path);
  await waitForKernel(page);
}

/**
 * Wait until the kernel of the notebook in front has nothing to do.
 */
export async function waitForKernel(page: Page): Promise<void> {
  await expect(
    notebook(page).locator('.jp-Notebook-ExecutionIndicator')
  ).toHaveAttribute('data-status', 'idle', { timeout: 60_000 });
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
  await cell(page, index).locator('.jp-InputPrompt').click();
  await page.keyboard.press('Control+Enter');
}

/**
 * Run a cell to its end.
 */
export async function run(
  page: Page,
  index: number,
  timeout = 90_000
): Promise<void> {
  const prompt = cell(page, index).locator('.jp-InputPrompt');
  const before = await prompt.innerText();
  await start(page, index);
  await expect(prompt).not.toHaveText(before, { timeout });
  await expect(prompt).toHaveText(/\[\d+\]:/, { timeout });
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
 * Run a command of JupyterLab, as its palette does.
 */
export async function command(page: Page, id: string): Promise<void> {
  await page.evaluate(async id => {
    const { jupyterapp } = window as unknown as {
      jupyterapp: { commands: { execute(id: string): Promise<unknown> } };
    };
    await jupyterapp.commands.execute(id);
  }, id);
}
