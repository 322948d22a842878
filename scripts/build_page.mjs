// Bundles the views into one script and one style sheet, which `Report.save("x.html")` writes into
// the page with the report, and the script that shows that page in a notebook's cell. Runs after tsc: node scripts/build_page.mjs [--development]
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
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
  licensed.set(
    name,
    text && `${name} ${packageJson.version} (${licenseId})\n\n${text.trim()}\n`
  );
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
const css = path.join(OUT, 'page.css');
await writeFile(css, (await themes()) + (await readFile(css, 'utf8')));
const unknown = [...licensed.keys()].filter(name => !licensed.get(name));
if (unknown.length) {
  throw new Error(
    `${unknown.join(', ')}: bundled without the text of a licence. Put it in ${LICENSES}.`
  );
}
await writeFile(
  path.join(OUT, 'licenses.txt'),
  [...licensed.keys()]
    .sort()
    .map(name => licensed.get(name))
    .join(`\n${'-'.repeat(80)}\n\n`)
);
