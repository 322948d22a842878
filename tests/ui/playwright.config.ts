import { defineConfig } from '@playwright/test';
import { execFileSync } from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

// Temporary files of the run, its servers and kernels. Workers read this file again, and
// have the folder in their environment.
if (!process.env.COMPILESCOPE_UI_FOLDER) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'compilescope-ui-'));
  process.env.COMPILESCOPE_UI_FOLDER = folder;
  process.env.TMPDIR = folder;
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
}

// A port that nobody uses, so that two runs on one machine do not meet. Workers read
// this file again, and have the port in their environment.
const port = (process.env.COMPILESCOPE_UI_PORT ??= freePort());
const url = `http://127.0.0.1:${port}`;

// While this file is there, C++ is not compiled: see tests/compiler/g++.
process.env.COMPILESCOPE_TEST_HOLD ??= path.join(
  fs.mkdtempSync(path.join(os.tmpdir(), 'cs-hold-')),
  'hold'
);

// The process that kernels are forked from listens there.
process.env.COMPILESCOPE_FORKS ??= path.join(
  fs.mkdtempSync(path.join(os.tmpdir(), 'cs-forks-')),
  'socket'
);

// Galata reads it.
process.env.TARGET_URL = url;

function freePort(): string {
  const script =
    'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])';
  return execFileSync('python', ['-c', script], { encoding: 'utf8' }).trim();
}

/**
 * Chromium as the machine has it, preferably the headless shell; undefined is
 * Playwright's own download of that.
 */
function chromium(): string | undefined {
  const names = [
    'chromium-headless-shell',
    'chromium',
    'chromium-browser',
    'google-chrome'
  ];
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return (
    process.env.CHROMIUM ??
    folders
      .flatMap(folder => names.map(name => path.join(folder, name)))
      .find(file => fs.existsSync(file))
  );
}

export default defineConfig({
  testDir: 'specs',
  outputDir: 'test-results',
  reporter: [['list']],
  // Far more than anything takes: a busy machine must not fail a test.
  timeout: 1_200_000,
  expect: { timeout: 300_000 },
  // Each failure may take as long as that.
  maxFailures: 3,
  // One server, and tests that measure time: one at a time.
  workers: 1,
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  use: {
    baseURL: url,
    viewport: { width: 1920, height: 1080 },
    // A trace takes a picture of the page's elements at every step, a fifth of the
    // processor's time: ask for one with `jlpm test --trace on`.
    trace: 'off',
    video: 'off',
    screenshot: 'only-on-failure',
    permissions: ['clipboard-read', 'clipboard-write'],
    // Without a GPU every frame of a spinner takes processor time.
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: {
      executablePath: chromium(),
      args: [
        '--disable-lcd-text',
        ...(os.userInfo().uid === 0 ? ['--no-sandbox'] : [])
      ]
    }
  },
  webServer: {
    command: 'jupyter lab --config jupyter_server_test_config.py',
    url: `${url}/lab`,
    timeout: 600_000,
    reuseExistingServer: false,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 10_000 },
    env: {
      // The user's own settings and kernels stay out of it.
      JUPYTER_CONFIG_DIR: fs.mkdtempSync(path.join(os.tmpdir(), 'cs-config-')),
      JUPYTER_DATA_DIR: fs.mkdtempSync(path.join(os.tmpdir(), 'cs-data-')),
      IPYTHONDIR: fs.mkdtempSync(path.join(os.tmpdir(), 'cs-ipython-'))
    }
  }
});
