// The Graph view beside elkjs, in Chromium, on the same graphs:
//   node run.mjs [--rounds 5] [--limit 60] [--only 10000]
// Needs `jlpm build:lib` in the repository, and `npm install` here.
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { bundle } from './bundle.mjs';
import { nodeOf, transformer, withUsers } from './synthetic.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at > 0 ? process.argv[at + 1] : otherwise;
};
const ROUNDS = Number(option('rounds', 5));
const LIMIT = 1000 * Number(option('limit', 60));
const ONLY = option('only', '');

function graphs() {
  const real = JSON.parse(gunzipSync(readFileSync(path.join(HERE, 'data/gpt2.json.gz'))));
  const read = stage =>
    withUsers(
      real.stages[stage].map(values => ({
        ...nodeOf(''),
        ...Object.fromEntries(real.fields.map((field, i) => [field, values[i]]))
      }))
    );
  return [
    ...['post_grad', 'backward_post_grad', 'joint'].map(stage => ({
      name: `GPT-2, ${stage}`,
      stage,
      nodes: read(stage)
    })),
    ...[1000, 3000, 10000, 20000].map(count => ({
      name: `synthetic ${count}`,
      stage: 'post_grad',
      nodes: transformer(count)
    }))
  ].filter(({ name }) => name.includes(ONLY));
}

function serve(folder) {
  const files = { '/elk-worker.min.js': require.resolve('elkjs/lib/elk-worker.min.js') };
  const types = { '.js': 'text/javascript', '.html': 'text/html' };
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost').pathname;
    if (url === '/') {
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(PAGE);
      return;
    }
    const file = files[url] ?? path.join(folder, path.basename(url));
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': types[path.extname(file)] ?? 'text/plain' });
    createReadStream(file).pipe(response);
  });
  return new Promise(resolve =>
    server.listen(0, '127.0.0.1', () => resolve({ server, port: server.address().port }))
  );
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>benchmark</title>
<style>
  body { margin: 0; --jp-code-font-family: monospace; --jp-compilescope-bar0: #1976d2; }
  #host { position: relative; width: 1280px; height: 800px; }
  #host > canvas:first-child { position: absolute; inset: 0; width: 100%; height: 100%; }
</style>
<div id="host"></div><script src="/bench.js"></script>`;

const sorted = values => [...values].sort((a, b) => a - b);
const at = (values, share) =>
  sorted(values)[Math.min(values.length - 1, Math.floor(share * values.length))];
const spread = values =>
  `${at(values, 0.5).toFixed(0)} (${at(values, 0).toFixed(0)}–${at(values, 1).toFixed(0)})`;

const folder = await bundle();
const { server, port } = await serve(folder);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: os.userInfo().uid === 0 ? ['--no-sandbox'] : []
});
console.log(
  `${browser.version()}, ${os.cpus().length} cores, load ${os.loadavg()[0].toFixed(1)}, ` +
    `${ROUNDS} rounds; milliseconds: median (least–most)`
);
try {
  for (const { name, stage, nodes } of graphs()) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on('pageerror', error => console.error(error.message));
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.evaluate(nodes => (window.nodes = nodes), nodes);
    const times = { group: [], layout: [], open: [], all: [] };
    let facts = {};
    for (let round = 0; round < ROUNDS; round++) {
      const result = await page.evaluate(async stage => {
        window.last?.client.dispose();
        window.last?.canvas.dispose();
        const opened = (window.last = await window.bench.open(stage, window.nodes));
        const ids = new Set(opened.prepared.grouping.groups.map(group => group.id));
        const start = performance.now();
        const all = await opened.show(ids);
        window.all = all;
        return {
          ...opened.times,
          all: performance.now() - start,
          boxes: opened.layout.items.length,
          shown: all.layout.items.length,
          hasWorker: opened.hasWorker
        };
      }, stage);
      facts = result;
      Object.keys(times).forEach(key => times[key].push(result[key]));
    }
    console.log(`\n${name}: ${nodes.length} nodes${facts.hasWorker ? '' : ', no worker'}`);
    console.log(
      `  open, collapsed     ${spread(times.open).padEnd(22)} (grouping ${spread(times.group)}, ` +
        `layout in the worker ${spread(times.layout)}, ${facts.boxes} boxes)`
    );
    console.log(`  open everything     ${spread(times.all).padEnd(22)} (${facts.shown} boxes)`);
    for (const [where, set] of [
      ['at reading size', 'home'],
      ['all of it in sight', 'fit']
    ]) {
      const { between, own } = await page.evaluate(async set => {
        window.last.canvas[set]();
        // The tiles of the first sight are not what panning costs.
        await new Promise(resolve => setTimeout(resolve, 400));
        return window.bench.pan(window.last.canvas, 3000);
      }, set);
      const slow = between.filter(time => time > 20).length / between.length;
      console.log(
        `  pan, ${where.padEnd(18)} ${(1000 / at(between, 0.5)).toFixed(0)} frames/s; between ` +
          `frames ${at(between, 0.5).toFixed(1)}, 95 % ${at(between, 0.95).toFixed(1)}, most ` +
          `${at(between, 1).toFixed(1)}; over 20: ${(100 * slow).toFixed(1)} %; own work ` +
          `${at(own, 0.5).toFixed(1)}, 95 % ${at(own, 0.95).toFixed(1)}`
      );
    }
    for (const [what, which, ours] of [
      ['collapsed', 'last.layout', times.layout],
      ['everything, flat', 'all.layout', times.all]
    ]) {
      const result = await page.evaluate(
        async ([which, limit]) => {
          const layout = which === 'all.layout' ? window.all.layout : window.last.layout;
          return window.bench.elk({ ...window.last, layout }, limit);
        },
        [which, LIMIT]
      );
      const ratio = result.time / at(ours, 0.5);
      const said = result.error
        ? `failed: ${result.error.slice(0, 80)}`
        : result.isLate
          ? `over ${LIMIT / 1000} s: more than ${ratio.toFixed(0)} times ours`
          : `${result.time.toFixed(0)}: ${ratio.toFixed(1)} times ours`;
      console.log(
        `  elkjs, ${what.padEnd(16)} ${said} (${result.boxes} boxes, ${result.edges} edges)`
      );
    }
    await page.close();
  }
} finally {
  await browser.close();
  server.close();
}
