import type { ChildProcessWithoutNullStreams } from 'child_process';
import { spawn } from 'child_process';
import { expect, test } from '@playwright/test';
import * as fs from 'fs';
import * as path from 'path';
import { createInterface } from 'readline';
import { MESSAGE_BYTES } from '../../../../src/protocol/types';
import { takePicture } from '../../helpers/pictures';

/**
 * The panel where an output is a sandboxed frame of no origin, under a policy
 * without `eval`, workers and requests, whose messages have a limit: VS Code's and
 * Colab's constraints, each at its strictest. docs/hosts.md has what it stands for.
 */

const BUILT = path.resolve(
  __dirname,
  '../../../../kernel/compilescope/views/built'
);

const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

const HOST = 'https://host.test/';
const OUTPUT = 'https://output.test/';

const HOST_PAGE = `<!doctype html>
<iframe title="output" sandbox="allow-scripts allow-downloads" src="${OUTPUT}"
  style="width: 100%; height: 1000px; border: none"></iframe>
<script>
  const output = document.querySelector('iframe');
  window.addEventListener('message', event => window.toKernel(event.data));
  window.toOutput = line => output.contentWindow.postMessage(line, '*');
</script>`;

/**
 * The output: the widget's script, and what anywidget gives it as a model.
 */
function outputPage(): string {
  const relay = fs
    .readFileSync(path.join(BUILT, 'relay.js'), 'utf8')
    .replace(/export\{(\w+) as default\};?/, 'const relay = $1;');
  return `<!doctype html><body data-vscode-theme-kind="vscode-dark">
<div id="cell"></div>
<script type="module">
${relay}
const listeners = [];
let state = null;
const model = {
  get: name => state[name],
  send: content => parent.postMessage(JSON.stringify(content), '*'),
  on: (name, callback) => listeners.push([name, callback]),
  off: (name, callback) => {
    const at = listeners.findIndex(each => each[0] === name && each[1] === callback);
    if (at >= 0) listeners.splice(at, 1);
  }
};
window.addEventListener('message', event => {
  if (event.source !== parent) return;
  const message = JSON.parse(event.data);
  if (state === null) {
    state = message;
    relay.render({ model, el: document.getElementById('cell') });
    return;
  }
  const buffers = message.buffers.map(text => Uint8Array.from(atob(text), c => c.charCodeAt(0)));
  for (const [name, callback] of [...listeners]) {
    if (name === 'msg:custom') callback(message.content, buffers);
  }
});
parent.postMessage('ready', '*');
</script>`;
}

let kernel: ChildProcessWithoutNullStreams;

test.beforeAll(() => {
  // Forked from a process that has imported torch, as the notebooks' kernels are.
  kernel = spawn('python', [
    path.resolve(__dirname, '../../jupyter_path/kernels/python3/kernel.py'),
    path.resolve(__dirname, '../../helpers/host_kernel.py')
  ]);
});

test.afterAll(() => {
  kernel.kill();
});

test('in a sandboxed frame without origin, eval, workers and requests', async ({
  page
}) => {
  const complaints: string[] = [];
  const requested: string[] = [];
  const lengths: number[] = [];
  page.on('console', message => {
    if (message.type() === 'error') {
      complaints.push(message.text());
    }
  });
  page.on('pageerror', error => complaints.push(error.message));
  page.on('request', request => requested.push(request.url()));
  await page.route(HOST, route =>
    route.fulfill({ contentType: 'text/html', body: HOST_PAGE })
  );
  await page.route(OUTPUT, route =>
    route.fulfill({
      contentType: 'text/html',
      headers: { 'Content-Security-Policy': POLICY },
      body: outputPage()
    })
  );
  const lines = createInterface({ input: kernel.stdout });
  await page.exposeFunction('toKernel', (line: string) => {
    if (line === 'ready') {
      lines.on('line', pass);
      return;
    }
    lengths.push(line.length);
    kernel.stdin.write(`${line}\n`);
  });
  const deliveries: Promise<void>[] = [];
  const pass = (line: string) => {
    lengths.push(line.length);
    deliveries.push(
      page.evaluate(text => {
        (window as unknown as IHost).toOutput(text);
      }, line)
    );
  };
  await page.goto(HOST);
  const panel = page
    .frameLocator('iframe[title="output"]')
    .frameLocator('iframe[title="compilescope: attend"]');
  await expect(panel.getByRole('heading', { level: 1 })).toContainText(
    'attend'
  );
  await expect(panel.locator('html')).toHaveAttribute('data-theme', 'dark');
  // It would fill the output's frame, not the window.
  await expect(panel.getByRole('button', { name: 'Full window' })).toHaveCount(
    0
  );

  await test.step('views', async () => {
    await panel.getByRole('tab', { name: 'Graph', exact: true }).click();
    await expect(panel.getByRole('tabpanel')).toContainText('softmax');
    await takePicture(page, 'host-graph');
    await panel.getByRole('tab', { name: 'Guards', exact: true }).click();
    await expect(panel.getByRole('tabpanel')).toContainText('x');
  });

  await test.step('a switch', async () => {
    await panel.getByRole('tab', { name: 'Code', exact: true }).click();
    await panel.getByRole('switch', { name: 'cpp_wrapper' }).check();
    await expect(panel.getByText('launches, all on both sides')).toBeVisible();
    await takePicture(page, 'host-code');
  });

  // It tries a worker, and lays graphs out in the page where there is none.
  expect(
    complaints.filter(text => !text.startsWith('Creating a worker'))
  ).toEqual([]);
  expect(requested.filter(url => !/^(data|about):/.test(url))).toEqual([
    HOST,
    OUTPUT
  ]);
  // A line has the message's buffers in base64.
  expect(Math.max(...lengths)).toBeLessThanOrEqual(MESSAGE_BYTES);

  // The kernel goes on sending, and a page that closes would fail a delivery.
  lines.off('line', pass);
  await Promise.all(deliveries);
});

/**
 * What the host's page has.
 */
interface IHost {
  toOutput(line: string): void;
}
