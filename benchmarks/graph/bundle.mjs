// Bundles what runs in the browser, from the repository's `lib`.
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(path.join(HERE, '../../package.json'));

/**
 * @returns The folder with `bench.js` and what it loads.
 */
export async function bundle() {
  const { rspack } = require('@rspack/core');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'compilescope-bench-'));
  const compiler = rspack({
    mode: 'production',
    devtool: false,
    target: ['web', 'es2020'],
    context: HERE,
    entry: path.join(HERE, 'page.mjs'),
    output: { path: folder, filename: 'bench.js', publicPath: '/' },
    module: { rules: [{ test: /\.m?js$/, resolve: { fullySpecified: false } }] },
    performance: { hints: false }
  });
  await new Promise((resolve, reject) =>
    compiler.run((error, stats) => {
      compiler.close(() => {});
      if (error || stats.hasErrors()) {
        reject(error ?? new Error(stats.toString({ all: false, errors: true })));
      } else {
        resolve();
      }
    })
  );
  return folder;
}
