import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';
import { execFileSync, spawn } from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import * as zlib from 'zlib';
import { setSidebar } from '../../helpers/compilescope';
import { expectNames, picture } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

const TRACES = path.resolve(__dirname, '../../../data/traces');

function logOf(name: string): string {
  return zlib
    .gunzipSync(fs.readFileSync(path.join(TRACES, `${name}.log.gz`)))
    .toString('utf8');
}

interface IApp {
  commands: { execute(id: string, args: object): Promise<unknown> };
}

/**
 * Show a folder in the file browser. Galata's helper gives up after 15 s.
 */
async function browse(
  page: IJupyterLabPageFixture,
  folder: string
): Promise<void> {
  await page.evaluate(async path => {
    const { jupyterapp: app } = window as unknown as { jupyterapp: IApp };
    await app.commands.execute('filebrowser:go-to-path', { path });
  }, folder);
}

/**
 * Open a log, or a folder of logs, from the file browser; the view of the trace.
 */
async function openTrace(
  page: IJupyterLabPageFixture,
  folder: string,
  name: string
): Promise<Locator> {
  await browse(page, folder);
  await page
    .getByRole('region', { name: 'File Browser Section' })
    .getByRole('listitem', { name: new RegExp(`^Name: ${name}`) })
    .click({ button: 'right' });
  await page
    .getByRole('menuitem', { name: 'Open with Compilescope', exact: true })
    .click();
  await page.getByRole('tab', { name: 'Trace', exact: true }).click();
  return page.getByRole('region', { name: 'Trace', exact: true });
}

test.describe('in JupyterLab', () => {
  // The folder goes with its test: a file browser that is still in it says so, in
  // a dialog over whatever test comes next.
  test.afterEach(({ page }) => browse(page, '/'));

  test('a folder of ranks is opened from the file browser, and read as it is looked at', async ({
    page,
    tmpPath
  }) => {
    const log = logOf('cpu-torch2.13-limit');
    for (const rank of [0, 1]) {
      await page.contents.uploadContent(
        // The second rank adds something else.
        rank ? log.replace('"co_name": "f"', '"co_name": "g"') : log,
        'text',
        `${tmpPath}/ranks/dedicated_log_torch_trace_rank_${rank}_x.log`
      );
    }
    const view = await openTrace(page, tmpPath, 'ranks');
    await expect(view).toContainText('Ranks compared');
    await expect(view).toContainText('What to change first');
    await expect(view).toContainText('6 compilations');
    await expectNames(view);
    await setSidebar(page, 'left', false);
    await picture(page, view, 'trace');

    await test.step('the calls that led to compilations are a tree', async () => {
      const calls = view.getByRole('list', {
        name: 'Calls that led to compilations of rank 0, rank 1'
      });
      await expect(calls.getByRole('listitem').first()).toContainText(
        '<module>'
      );
      await expect(calls.getByRole('listitem').last()).toContainText('0/1');
    });

    await test.step('the list is filtered, and a row is shown in all views', async () => {
      await view.getByLabel('At least').fill('1');
      await expect(view).toContainText('4 of 6 compilations');
      await view.getByLabel('Show').selectOption('recompiled');
      await expect(view).toContainText('2 of 6 compilations');
      await view.getByLabel('At least').fill('');
      await view.getByRole('row', { name: /^rank 1 0\/1 / }).click();
      await page.getByRole('tab', { name: 'Guards', exact: true }).click();
      await expect(
        page.getByRole('region', { name: 'Guards', exact: true })
      ).toContainText("L['x']");
    });

    await test.step('a text is found in all compilations', async () => {
      await page.getByRole('tab', { name: 'Trace', exact: true }).click();
      await view
        .getByLabel('Graphs, code, guards, metrics, …')
        .fill('l_x_ + 1');
      await view.getByRole('button', { name: 'Search', exact: true }).click();
      await expect(view.getByRole('status')).toContainText('4 lines');
      await view.getByRole('button', { name: 'rank 0 0/1' }).first().click();
      await expect(
        page.getByRole('tab', { name: 'Code', exact: true })
      ).toHaveAttribute('aria-selected', 'true');
      await expect(page.locator('.cm-content').first()).toContainText(
        'forward'
      );
    });
  });

  test('a running log is followed, and compared with the one before', async ({
    page,
    tmpPath
  }) => {
    const log = logOf('cpu-torch2.13-limit');
    const cut =
      log.lastIndexOf('\nV', log.indexOf('"frame_compile_id": 1')) + 1;
    const upload = (name: string, text: string) =>
      page.contents.uploadContent(text, 'text', `${tmpPath}/${name}`);
    await upload('before.log', log);
    await upload('running.log', log.slice(0, cut));
    const view = await openTrace(page, tmpPath, 'running.log');
    await expect(view).toContainText('The log is followed');
    await expect(
      view.getByRole('heading', { name: '1 compilation', exact: true })
    ).toBeVisible();

    await test.step('it is compared with a log that the user chooses', async () => {
      await view
        .getByRole('button', { name: 'Compare with another trace…' })
        .click();
      const dialog = page.getByRole('dialog');
      await dialog
        .getByRole('listitem', { name: /^Name: before\.log/ })
        .click();
      await dialog.getByRole('button', { name: /Open|Select/ }).click();
      await expect(view).toContainText('No longer compiled');
      await expect(view).toContainText('before.log');
    });

    await test.step('what is logged later is listed', async () => {
      await upload('running.log', log);
      await expect(
        view.getByRole('heading', { name: '3 compilations', exact: true })
      ).toBeVisible();
    });
  });

  test('a trace that the address names is opened', async ({
    page,
    tmpPath,
    baseURL
  }) => {
    const path = `${tmpPath}/a log.log`;
    await page.contents.uploadContent(
      logOf('cpu-torch2.13-limit'),
      'text',
      path
    );
    // A page of its own, whose scripts the browser has compiled already.
    const lab = await page.context().newPage();
    await lab.goto(
      `${baseURL}/lab/workspaces/asked?compilescope-open=${encodeURIComponent(path)}`
    );
    await lab.getByRole('tab', { name: 'Trace', exact: true }).click();
    await expect(
      lab.getByRole('region', { name: 'Trace', exact: true })
    ).toContainText('3 compilations');
    expect(lab.url()).not.toContain('compilescope-open');
    await lab.close();
  });
});

test('the served page of a trace reads a compilation when it is shown', async ({
  browser
}) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cs-trace-'));
  const file = path.join(folder, 'served.log');
  fs.writeFileSync(file, logOf('h200-torch2.11-mlp_b1_cpp'));
  const server = spawn('compilescope', ['open', file, '--no-browser']);
  try {
    const url = await new Promise<string>(resolve =>
      server.stdout.once('data', data => resolve(String(data).trim()))
    );
    const page = await browser.newPage();
    await page.goto(url);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(
      'served.log'
    );
    await page.getByRole('tab', { name: 'Kernels', exact: true }).click();
    await expect(
      page.getByRole('region', { name: 'Kernels', exact: true })
    ).toContainText('triton_');
    await page.close();
  } finally {
    server.kill('SIGINT');
    fs.rmSync(folder, { recursive: true });
  }
});

test('the page of a large trace holds its report packed, and shows it', async ({
  browser
}) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cs-trace-'));
  for (let rank = 0; rank < 3; rank++) {
    fs.copyFileSync(
      path.join(TRACES, 'h200-torch2.11-train_mlp_cpp.log.gz'),
      path.join(folder, `dedicated_log_torch_trace_rank_${rank}_x.log.gz`)
    );
  }
  const file = path.join(folder, 'page.html');
  try {
    execFileSync('compilescope', ['trace', folder, '-o', file]);
    expect(fs.readFileSync(file, 'utf8')).toContain('id="packed-report"');
    const page = await browser.newPage();
    await page.goto(`file://${file}`);
    await page.getByRole('tab', { name: 'Trace', exact: true }).click();
    await expect(
      page.getByRole('region', { name: 'Trace', exact: true })
    ).toContainText('All 3 ranks compiled the same code.');
    await page.getByRole('tab', { name: 'Kernels', exact: true }).click();
    await expect(
      page.getByRole('region', { name: 'Kernels', exact: true })
    ).toContainText('triton_');
    await page.close();
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
