import type { ChildProcessByStdio } from 'child_process';
import { spawn } from 'child_process';
import { once } from 'events';
import { expect, test } from '@playwright/test';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import { createInterface } from 'readline';
import type { Readable } from 'stream';
import { takePicture } from '../../helpers/pictures';

/**
 * The panel in marimo, which has no IPython, and connects and loads widgets in its
 * own way.
 */

const NOTEBOOK = `import marimo

app = marimo.App()


@app.cell
def _():
    import compilescope as cs
    import torch

    def attend(x, y):
        scores = torch.relu(x @ y)
        return scores.softmax(-1)

    x, y = torch.randn(16, 32), torch.randn(32, 16)
    cs.inspect(attend, (x, y), variants="python", run=False).panel()
    return
`;

let folder: string;
let server: ChildProcessByStdio<null, Readable, null>;

test.beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cs-marimo-'));
  fs.writeFileSync(path.join(folder, 'attend.py'), NOTEBOOK);
  // Forked from a process that has imported torch, as the notebooks' kernels are. The
  // notebook runs in the server's own process, unlike under `marimo edit`.
  server = spawn(
    'python',
    [
      path.resolve(__dirname, '../../jupyter_path/kernels/python3/kernel.py'),
      path.resolve(__dirname, '../../helpers/marimo_server.py'),
      path.join(folder, 'attend.py')
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      // The user's own settings stay out of it.
      env: { ...process.env, XDG_CONFIG_HOME: folder }
    }
  );
});

test.afterAll(async () => {
  const ended = once(server, 'exit');
  server.kill();
  await ended;
  fs.rmSync(folder, { recursive: true });
});

test('in marimo, light and dark', async ({ page, request }) => {
  const address = await served();
  // It names the address just before it listens there.
  await expect
    .poll(() =>
      request.get(address).then(
        () => true,
        () => false
      )
    )
    .toBe(true);
  await page.goto(address);
  const panel = page.frameLocator('iframe[title="compilescope: attend"]');
  await expect(panel.getByRole('heading', { level: 1 })).toContainText(
    'attend'
  );
  await panel.getByRole('tab', { name: 'Code', exact: true }).click();
  await panel.getByRole('switch', { name: 'cpp_wrapper' }).check();
  await expect(panel.getByText('launches, all on both sides')).toBeVisible();
  await takePicture(page, 'marimo-light');
  // What marimo's own dark theme sets besides its colors.
  await page.evaluate(() => {
    document.body.classList.replace('light', 'dark');
    document.body.dataset.theme = 'dark';
  });
  await expect(panel.locator('html')).toHaveAttribute('data-theme', 'dark');
  await takePicture(page, 'marimo-dark');
});

/**
 * The address that the server names.
 */
function served(): Promise<string> {
  const lines = createInterface({ input: server.stdout });
  return new Promise((resolve, reject) => {
    lines.on('line', line => {
      const address = /http:\/\/\S+/.exec(line);
      if (address) {
        resolve(address[0]);
      }
    });
    lines.on('close', () => reject(new Error('marimo has ended.')));
  });
}
