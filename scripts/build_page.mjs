// Bundles the views into one script and one style sheet, compressed, which `Report.save("x.html")` writes into
// the page with the report, the script that unpacks them there, and the script that shows the views in a
// notebook's cell. Runs after tsc: node scripts/build_page.mjs [--development]
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rspack } from '@rspack/core';
import { LicenseWebpackPlugin } from 'license-webpack-plugin';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const OUT = path.join(ROOT, 'kernel/compilescope/views/built');
const require = createRequire(import.meta.url);
const isDevelopment = process.argv.includes('--development');

/**
 * What the views take of JupyterLab, by itself: the packages' own entries bring the application.
 */
const HOST = path.join(ROOT, 'lib/page/host');

/**
 * The licences of packages whose archives on npm hold no text of it.
 */
const LICENSES = path.join(ROOT, 'scripts/licenses');
const TEXTS = {
  '@jupyterlab/': await readFile(path.join(LICENSES, 'jupyterlab.txt'), 'utf8'),
  '@lumino/': await readFile(path.join(LICENSES, 'lumino.txt'), 'utf8')
};

/**
 * Package → its licence, of all that is in the bundles.
 */
const licensed = new Map();

function note({ name, licenseId, licenseText, packageJson }) {
  const scope = Object.keys(TEXTS).find(prefix => name.startsWith(prefix));
  const text = licenseText ?? TEXTS[scope];
  const title = `${name} ${packageJson.version} (${licenseId})`;
  licensed.set(name, { name, title, text: text?.trim() });
}

const isOurs = name => name === require('../package.json').name;

/**
 * The variables of JupyterLab's own light and dark theme, which the bundler does not see.
 */
const THEMES = ['light', 'dark'].map(theme => ({
  theme,
  name: `@jupyterlab/theme-${theme}-extension`
}));

/**
 * What the style sheets need: nesting, `:has`, container queries. For older ones the minifier
 * would write `:is()` as `:-webkit-any()` too, which counts for more: other rules would win in a
 * page than in JupyterLab.
 */
const BROWSERS = ['chrome 120', 'firefox 121', 'safari 17.2'];

function bundle(entry, filename, options = {}) {
  const compiler = rspack({
    mode: isDevelopment ? 'development' : 'production',
    devtool: false,
    target: ['web', 'es2020'],
    context: ROOT,
    entry: path.join(ROOT, entry),
    output: {
      path: OUT,
      filename,
      cssFilename: filename.replace(/js$/, 'css'),
      ...(options.isModule && { library: { type: 'module' } })
    },
    experiments: { outputModule: options.isModule ?? false },
    resolve: { alias: options.alias ?? {} },
    module: {
      // A page that is one file holds its worker as text, and asks for no file.
      parser: { javascript: { worker: false, url: false } },
      rules: [
        { test: /\.svg$/, type: 'asset/source' },
        { test: /\.css$/, type: 'css' },
        { test: /\.m?js$/, resolve: { fullySpecified: false } }
      ]
    },
    optimization: {
      splitChunks: false,
      minimizer: [
        new rspack.SwcJsMinimizerRspackPlugin(),
        new rspack.LightningCssMinimizerRspackPlugin({
          minimizerOptions: { targets: BROWSERS }
        })
      ]
    },
    plugins: [
      // The tokens of the translations bring the connection to a server.
      new rspack.NormalModuleReplacementPlugin(/^\.\/tokens$/, request => {
        if (request.context.endsWith('@jupyterlab/translation/lib')) {
          request.request = `${HOST}/language.js`;
        }
      }),
      new rspack.optimize.LimitChunkCountPlugin({ maxChunks: 1 }),
      new LicenseWebpackPlugin({
        perChunkOutput: false,
        excludedPackageTest: isOurs,
        stats: { warnings: false, errors: true },
        additionalModules: THEMES.map(({ name }) => ({
          name,
          directory: path.dirname(require.resolve(`${name}/package.json`))
        })),
        // One file for all bundles is written at the end.
        renderLicenses: modules => {
          modules.forEach(note);
          return '';
        }
      }),
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
 * The themes' variables; the page sets `data-theme`.
 */
async function themes() {
  const texts = [];
  for (const { theme, name } of THEMES) {
    const file = require.resolve(`${name}/style/variables.css`);
    const text = await readFile(file, 'utf8');
    texts.push(text.replaceAll(':root', `:root[data-theme='${theme}']`));
  }
  return texts.join('\n');
}

/**
 * Keep a file compressed alone: pages hold it so.
 */
async function compress(name, content) {
  const file = path.join(OUT, name);
  await writeFile(`${file}.gz`, gzipSync(content, { level: 9 }));
  await rm(file, { force: true });
}

await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });
await bundle('lib/graph/worker/layout.worker.js', 'worker.js');
await bundle('lib/relay/index.js', 'relay.js', { isModule: true });
await bundle('lib/page/index.js', 'page.js', {
  alias: {
    '@jupyterlab/apputils$': `${HOST}/apputils.js`,
    '@jupyterlab/codemirror$': `${HOST}/codemirror.js`,
    '@jupyterlab/translation$': `${HOST}/translation.js`,
    '@jupyterlab/ui-components$': `${HOST}/components.js`
  }
});
await bundle('lib/page/unpack.js', 'unpack.js');
const style = await readFile(path.join(OUT, 'page.css'), 'utf8');
await compress('page.css', (await themes()) + style);
await compress('page.js', await readFile(path.join(OUT, 'page.js')));
const unknown = [...licensed.values()]
  .filter(({ text }) => !text)
  .map(({ name }) => name);
if (unknown.length) {
  throw new Error(
    `${unknown.join(', ')}: bundled without the text of a licence. Put it in ${LICENSES}.`
  );
}
// Each text once, below the packages that have it.
const titles = new Map();
for (const { title, text } of [...licensed.values()].sort((a, b) =>
  a.name < b.name ? -1 : 1
)) {
  titles.set(text, [...(titles.get(text) ?? []), title]);
}
await writeFile(
  path.join(OUT, 'licenses.txt'),
  [...titles]
    .map(([text, each]) => `${each.join('\n')}\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`)
);
