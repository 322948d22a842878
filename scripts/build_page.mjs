// Bundles the views into one script and one style sheet, which `Report.save("x.html")` writes into
// the page with the report. Runs after tsc: node scripts/build_page.mjs [--development]
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rspack } from '@rspack/core';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const OUT = path.join(ROOT, 'kernel/compilescope/views/built');
const require = createRequire(import.meta.url);
const isDevelopment = process.argv.includes('--development');

/**
 * What the views take of JupyterLab, by itself: the packages' own entries bring the application.
 */
const HOST = path.join(ROOT, 'lib/page/host');

function bundle(entry, filename, alias = {}) {
  const compiler = rspack({
    mode: isDevelopment ? 'development' : 'production',
    devtool: false,
    target: ['web', 'es2020'],
    context: ROOT,
    entry: path.join(ROOT, entry),
    output: {
      path: OUT,
      filename,
      cssFilename: filename.replace(/js$/, 'css')
    },
    resolve: { alias },
    module: {
      // A page that is one file holds its worker as text, and asks for no file.
      parser: { javascript: { worker: false, url: false } },
      rules: [
        { test: /\.svg$/, type: 'asset/source' },
        { test: /\.css$/, type: 'css' },
        { test: /\.m?js$/, resolve: { fullySpecified: false } }
      ]
    },
    optimization: { splitChunks: false },
    plugins: [
      new rspack.optimize.LimitChunkCountPlugin({ maxChunks: 1 }),
      // Not the path that the module has on the machine that builds.
      new rspack.DefinePlugin({ 'import.meta.url': 'document.baseURI' })
    ],
    performance: { hints: false }
  });
  return new Promise((resolve, reject) => {
    compiler.run((error, stats) => {
      compiler.close(() => {});
      if (error || stats.hasErrors()) {
        reject(
          error ?? new Error(stats.toString({ all: false, errors: true }))
        );
      } else {
        resolve();
      }
    });
  });
}

/**
 * The variables of JupyterLab's own light and dark theme; the page sets `data-theme`.
 */
async function themes() {
  const texts = [];
  for (const theme of ['light', 'dark']) {
    const name = `@jupyterlab/theme-${theme}-extension/style/variables.css`;
    const text = await readFile(require.resolve(name), 'utf8');
    texts.push(text.replaceAll(':root', `:root[data-theme='${theme}']`));
  }
  return texts.join('\n');
}

await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });
await bundle('lib/graph/worker/layout.worker.js', 'worker.js');
await bundle('lib/page/index.js', 'page.js', {
  '@jupyterlab/apputils$': `${HOST}/apputils.js`,
  '@jupyterlab/codemirror$': `${HOST}/codemirror.js`,
  '@jupyterlab/translation$': `${HOST}/translation.js`,
  '@jupyterlab/ui-components$': `${HOST}/components.js`
});
const css = path.join(OUT, 'page.css');
await writeFile(css, (await themes()) + (await readFile(css, 'utf8')));
