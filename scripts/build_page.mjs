// Bundles the views into one script and one style sheet, compressed, which `Report.save("x.html")` writes into
// the page with the report, the script that unpacks them there, and the script that shows the views in a
// notebook's cell. Runs after tsc: node scripts/build_page.mjs [--development]
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rspack } from '@rspack/core';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const OUT = path.join(ROOT, 'kernel/compilescope/views/built');
const require = createRequire(import.meta.url);
const isDevelopment = process.argv.includes('--development');

/**
 * What the views take of JupyterLab, by itself: the packages' own entries bring the application.
 */
const HOST = path.join(ROOT, 'lib/page/host');

/**
 * The licenses of packages whose archives on npm hold no text of it.
 */
const LICENSES = path.join(ROOT, 'scripts/licenses');
const TEXTS = {
  '@jupyterlab/': await readFile(path.join(LICENSES, 'jupyterlab.txt'), 'utf8'),
  '@lumino/': await readFile(path.join(LICENSES, 'lumino.txt'), 'utf8')
};

/**
 * Folder → name, of the packages that the bundles have modules of.
 */
const bundled = new Map();

/**
 * Note the packages of a bundle's modules, of those too that were joined with others.
 */
function noteModules(modules) {
  for (const { nameForCondition, modules: joined } of modules) {
    const [, folder, name] =
      /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(
        nameForCondition?.replaceAll(path.sep, '/') ?? ''
      ) ?? [];
    if (folder) {
      bundled.set(folder, name);
    }
    noteModules(joined ?? []);
  }
}

/**
 * A package's title, and the text of its license: undefined if it has none.
 */
async function licenseOf(folder, name) {
  const about = JSON.parse(
    await readFile(path.join(folder, 'package.json'), 'utf8')
  );
  const files = (await readdir(folder)).filter(file =>
    /^licen[cs]e/i.test(file)
  );
  const scope = Object.keys(TEXTS).find(prefix => name.startsWith(prefix));
  const text = files.length
    ? await readFile(path.join(folder, files.sort()[0]), 'utf8')
    : TEXTS[scope];
  return {
    name,
    title: `${name} ${about.version} (${about.license})`,
    text: text?.trim()
  };
}

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
        // A module that was joined with others is an orphan, below the module that they became.
        const { modules } = stats.toJson({
          all: false,
          ids: true,
          modules: true,
          nestedModules: true,
          cachedModules: true,
          dependentModules: true,
          orphanModules: true,
          modulesSpace: 1e6,
          nestedModulesSpace: 1e6
        });
        noteModules(modules.filter(({ orphan }) => !orphan));
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
for (const { name } of THEMES) {
  bundled.set(path.dirname(require.resolve(`${name}/package.json`)), name);
}
const licenses = await Promise.all(
  [...bundled].map(([folder, name]) => licenseOf(folder, name))
);
const unknown = licenses.filter(({ text }) => !text).map(({ name }) => name);
if (unknown.length) {
  throw new Error(
    `${unknown.join(', ')}: bundled without the text of a license. Put it in ${LICENSES}.`
  );
}
// Each text once, below the packages that have it.
const titles = new Map();
for (const { title, text } of licenses.sort((a, b) =>
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
