// How soon the panel shows the code after a switch is flipped: JupyterLab in Chromium.
//   node benchmarks/flip.mjs [--rounds 5] [--subject gpt-256] [--step forward] [--layers 12]
// Needs what `make setup-tests` sets up; the environment's `bin` is first in PATH. Linux only.
//
// Each round loads the page anew and runs a cell that inspects a new model (of real_subjects.py) with
// the Python wrapper; the C++ wrapper is generated ahead. Prints the milliseconds from the click on
// `cpp_wrapper` until the C++ wrapper's code is drawn, and the kernel's processor time in them.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { chromium } = createRequire(path.join(HERE, '../tests/ui/package.json'))('@playwright/test');
const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at > 0 ? process.argv[at + 1] : otherwise;
};
const ROUNDS = Number(option('rounds', 5));
const SUBJECT = option('subject', 'gpt-256');
const IS_TRAINING = option('step', 'forward') === 'training';
const LAYERS = option('layers', 'None');
/** How long after a cell the panel has what it requests, also the report to keep. */
const SETTLE_MS = 4000;
const ARTIFACT = 'C++ wrapper of variant cpp';
const CELLS = [
  `%load_ext compilescope
import os, sys
sys.path.append(${JSON.stringify(HERE)})
from real_subjects import SUBJECTS
from compilescope.session.session import get_session
for subject in list(get_session().inspections):
    get_session().forget(subject)
print('process', os.getpid())`,
  `%%compile --no-run --variants python
fn, args = SUBJECTS["${SUBJECT}"](${IS_TRAINING ? 'True' : 'False'}, ${LAYERS})
fn(*args)`
];
const NOTEBOOK = {
  cells: CELLS.map((source, index) => ({
    cell_type: 'code',
    execution_count: null,
    id: `cell-${index}`,
    metadata: {},
    outputs: [],
    source
  })),
  metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
  nbformat: 4,
  nbformat_minor: 5
};

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts JupyterLab with settings of its own; its kernels end with it. */
async function startLab(folder) {
  const port = await freePort();
  const token = randomBytes(16).toString('hex');
  const url = `http://127.0.0.1:${port}`;
  const own = name => {
    mkdirSync(path.join(folder, name));
    return path.join(folder, name);
  };
  const home = own('notebooks');
  writeFileSync(path.join(home, 'flip.ipynb'), JSON.stringify(NOTEBOOK));
  const log = [];
  const lab = spawn(
    'jupyter',
    [
      'lab',
      '--no-browser',
      '--allow-root',
      '--LabApp.expose_app_in_browser=True',
      '--ServerApp.ip=127.0.0.1',
      `--ServerApp.port=${port}`,
      `--IdentityProvider.token=${token}`,
      `--ServerApp.root_dir=${home}`,
      '--ServerApp.terminals_enabled=False'
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        JUPYTER_CONFIG_DIR: own('config'),
        JUPYTER_DATA_DIR: own('data'),
        IPYTHONDIR: own('ipython'),
        TORCHINDUCTOR_CACHE_DIR: own('inductor'),
        COMPILESCOPE_CACHE_DIR: own('cache')
      }
    }
  );
  lab.stdout.on('data', text => log.push(text));
  lab.stderr.on('data', text => log.push(text));
  for (;;) {
    if (lab.exitCode !== null) {
      throw new Error(`JupyterLab ended: ${log.join('')}`);
    }
    const answer = await fetch(`${url}/api/status?token=${token}`).catch(() => null);
    if (answer?.ok) {
      return { lab, url, token };
    }
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}

/** Processor time of a process, in milliseconds; Linux counts it in hundredths of a second. */
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Opens the notebook, runs its cells, and shows the code and the switches. */
async function inspect(page, { url, token }) {
  await page.goto(`${url}/lab/tree/flip.ipynb?reset&token=${token}`);
  await page.waitForFunction(() => window.jupyterapp);
  const pid = await page.evaluate(async () => {
    const { jupyterapp: app } = window;
    await app.restored;
    const notebook = await app.commands.execute('docmanager:open', { path: 'flip.ipynb' });
    await notebook.context.ready;
    await notebook.sessionContext.ready;
    await notebook.sessionContext.session.kernel.info;
    app.shell.collapseLeft();
    await app.commands.execute('notebook:run-all-cells');
    const outputs = JSON.stringify(notebook.content.widgets[0].model.toJSON().outputs);
    return Number(outputs.match(/process (\d+)/)[1]);
  });
  await page.getByRole('tab', { name: 'Compilescope', exact: true }).click();
  await page.getByRole('tab', { name: 'Code', exact: true }).filter({ visible: true }).click();
  await page.getByRole('textbox', { name: 'Python wrapper of variant python' }).waitFor();
  await page.waitForTimeout(SETTLE_MS);
  return pid;
}

/**
 * Clicks the switch.
 *
 * @returns Milliseconds from the click to the end of the frame that draws the code.
 */
async function flip(page) {
  const drawn = page.evaluate(async label => {
    const start = await new Promise(resolve =>
      window.addEventListener('click', () => resolve(performance.now()), {
        capture: true,
        once: true
      })
    );
    const isShown = () => {
      const editor = document.querySelector(`[role=textbox][aria-label="${label}"]`);
      return editor?.offsetParent && editor.querySelectorAll('.cm-line').length > 10;
    };
    // Looking in every frame would have the page draw, which takes processor time without a GPU.
    await new Promise(resolve => {
      const observer = new MutationObserver(() => {
        if (isShown()) {
          observer.disconnect();
          resolve();
        }
      });
      const all = { subtree: true, childList: true, attributes: true };
      observer.observe(document.body, all);
    });
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
    await frame();
    await frame();
    return performance.now() - start;
  }, ARTIFACT);
  await page.getByRole('switch', { name: 'cpp_wrapper' }).click();
  return drawn;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

function row(name, values) {
  const texts = values.map(value => (typeof value === 'number' ? value.toFixed(0) : value));
  return [name.padEnd(8), ...texts.map(text => text.padStart(8))].join(' ');
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'compilescope-flip-'));
let server = null;
let browser = null;
try {
  server = await startLab(folder);
  const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium-headless-shell'].find(
    file => file && existsSync(file)
  );
  const args = os.userInfo().uid === 0 ? ['--no-sandbox'] : [];
  browser = await chromium.launch({ executablePath, args });
  const rounds = [];
  console.log(row('round', ['wall', 'kernel']), '  (ms)');
  for (let round = 1; round <= ROUNDS; round++) {
    const page = await browser.newPage({
      viewport: { width: 1920, height: 1080 },
      // So does every frame of a spinner.
      reducedMotion: 'reduce'
    });
    page.setDefaultTimeout(600_000);
    const pid = await inspect(page, server);
    const before = processorTime(pid);
    const wall = await flip(page);
    rounds.push([wall, processorTime(pid) - before]);
    console.log(row(String(round), rounds.at(-1)));
    await page.close();
  }
  const columns = [0, 1].map(column => rounds.map(times => times[column]));
  console.log(
    row(
      'shortest',
      columns.map(values => Math.min(...values))
    )
  );
  console.log(row('median', columns.map(median)));
} finally {
  await browser?.close();
  server?.lab.kill('SIGTERM');
  await new Promise(resolve => (server ? server.lab.on('exit', resolve) : resolve()));
  rmSync(folder, { recursive: true, force: true });
}
