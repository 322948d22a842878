import { expect, test, type Locator } from '@playwright/test';
import { execFileSync } from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import { fileURLToPath, pathToFileURL } from 'url';
import { takePicture } from '../../helpers/pictures';
import { IN_THE_BAR, openView, UNDER_MORE } from '../../helpers/report';
import { REPORTS, savePage } from '../../helpers/savedPage';

/**
 * A saved page, as somebody opens it who was sent it: no JupyterLab, no
 * network.
 */

const EVIL =
  '<img src=x onerror="window.evil=1"><script>window.evil=1</script>';

test.use({ viewport: { width: 1500, height: 900 } });

test('shows every view, in light and dark, without the network', async ({
  page,
  context
}) => {
  await context.setOffline(true);
  const asked: string[] = [];
  page.on('request', request => asked.push(request.url()));
  const failed: string[] = [];
  page.on('pageerror', error => failed.push(error.message));
  page.on('console', message => {
    if (message.type() === 'error') {
      failed.push(message.text());
    }
  });
  const url = savePage('training');
  await page.goto(url);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('loss');
  for (const scheme of ['light', 'dark']) {
    if (scheme === 'dark') {
      await page.getByRole('button', { name: 'Dark' }).click();
      await expect(page.getByRole('button', { name: 'Light' })).toBeVisible();
      // The icons' own gray cannot be seen on it.
      const shell = page.locator('.jp-Compilescope-shell');
      const icon = shell.locator('.jp-icon3[fill]').first();
      await expect(icon).toHaveCSS('fill', 'rgb(189, 189, 189)');
      await openView(page.locator('body'), 'Graph');
      const drawn = shell
        .locator('.jp-icon3[stroke]')
        .filter({ visible: true });
      await expect(drawn.first()).toHaveCSS('stroke', 'rgb(189, 189, 189)');
    }
    for (const view of [...IN_THE_BAR, ...UNDER_MORE]) {
      const panel = await openView(page.locator('body'), view);
      await expect(panel).toBeVisible();
      await expect(panel).not.toContainText('Loading');
      await expect(panel).not.toContainText('could not be opened');
      const name = view.replace(/\W+/g, '-');
      await takePicture(page, `saved-page-${scheme}-${name}`);
    }
  }
  await page.getByRole('tab', { name: 'Code', exact: true }).click();
  await expect(page.getByText('launches, all on both sides')).toBeVisible();
  expect(failed).toEqual([]);
  expect(
    asked.filter(each => each !== url && !each.startsWith('blob:'))
  ).toEqual([]);
});

test('shows hostile names as text', async ({ page }) => {
  const evil = JSON.stringify(EVIL);
  const url = savePage(
    'breaks',
    [
      `evil = ${evil}`,
      'r.subject.name = evil',
      'r.subject.arguments = [evil]',
      'for v in r.variants:',
      '    for c in v.compilations:',
      '        for g in c.guards: g.expression = evil; g.source = evil',
      '        for b in c.breaks: b.reason = evil; b.hints = [evil]; b.link = "javascript:window.evil=1"',
      '        for k in c.kernels: k.name = evil; k.ops = [evil]',
      '        for g in c.graphs.values():',
      '            for n in g.nodes: n.target = evil; n.module = evil',
      '    for b in v.breaks: b.cause.reason = evil; b.cause.link = "javascript:window.evil=1"'
    ].join('\n')
  );
  await page.goto(url);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(EVIL);
  for (const view of [...IN_THE_BAR, ...UNDER_MORE]) {
    const panel = await openView(page.locator('body'), view);
    await expect(panel).not.toContainText('Loading');
  }
  expect(await page.evaluate(() => 'evil' in window)).toBe(false);
  expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
  expect(await page.locator('img[src="x"]').count()).toBe(0);
});

test('uses the width and the height that it has', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 1100 });
  await page.goto(savePage('training'));
  const body = page.locator('body');

  await test.step('few buffers take no more height than their rows', async () => {
    const memory = await openView(body, 'Memory');
    const table = memory.getByRole('grid', { name: 'Buffers' });
    await expect(table.getByRole('row').nth(1)).toBeVisible();
    const below = memory.getByRole('heading', { name: 'Layout changes' });
    await expect
      .poll(async () => {
        const last = await table.getByRole('row').last().boundingBox();
        const next = await below.boundingBox();
        return last && next ? next.y - last.y - last.height : Infinity;
      })
      .toBeLessThan(40);
  });

  await test.step('the table of caches is not wider than its place', async () => {
    const times = await openView(body, 'Compile time');
    const caches = times.getByRole('table', { name: /compile caches/ });
    const isWider = () =>
      caches.evaluate(
        ({ parentElement: place }) => place!.scrollWidth > place!.clientWidth
      );
    await expect.poll(isWider).toBe(false);
  });

  await test.step('two views of More stand in the line of the others', async () => {
    await page.goto(
      `${savePage(
        'training',
        [
          'import compilescope.report as s',
          'r.variants[0].compilations[0].autotunings = [s.Autotuning("mm")]'
        ].join('\n')
      )}#view=memory`
    );
    const tab = (name: string) => page.getByRole('tab', { name, exact: true });
    await expect(tab('Memory')).toHaveAttribute('aria-selected', 'true');
    const top = (name: string) =>
      tab(name).evaluate(node => node.getBoundingClientRect().top);
    await expect
      .poll(async () => (await top('Autotune')) - (await top('Overview')))
      .toBe(0);
  });
});

test('opens at the view that its address names', async ({ page }) => {
  await page.goto(`${savePage('recompiles')}#view=recompiles`);
  const tab = page.getByRole('tab', { name: /^Recompiles/ });
  await expect(tab).toHaveAttribute('aria-selected', 'true');
});

test('shows the same figure of a pair wherever it stands', async ({ page }) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cs-surfaces-'));
  const report = path.join(REPORTS, 'mlp.compilescope.json');
  const script = path.resolve(__dirname, '../../helpers/sample_timings.py');
  const figures = JSON.parse(
    execFileSync('python', [script, report, folder], { encoding: 'utf8' })
  ) as Record<string, string>;
  const {
    'python over eager': python,
    'cpp over eager': cpp,
    'cpp over python': wrappers
  } = figures;
  // Each pair has a figure of its own, so that none can stand for another.
  expect(new Set([python, cpp, wrappers]).size).toBe(3);
  const overEager = { python, cpp };

  await test.step('printed', () => {
    const text = fs.readFileSync(path.join(folder, 'printed.txt'), 'utf8');
    const lines = text.split('\n');
    const line = (begin: string) =>
      lines.find(each => each.startsWith(begin)) ?? '';
    expect(figuresIn(line('python '))).toEqual([python]);
    expect(figuresIn(line('cpp '))).toEqual([cpp]);
    expect(figuresIn(line('C++ wrapper?'))).toEqual([wrappers]);
    expect(figuresIn(line('1. '))).toEqual([wrappers]);
    expect(new Set(figuresIn(text))).toEqual(new Set([python, cpp, wrappers]));
  });

  await test.step('in the cell', async () => {
    const html = fs.readFileSync(path.join(folder, 'cell.html'), 'utf8');
    await page.setContent(html);
    const table = page.getByRole('table').first();
    await expectRows(table, { 'Python wrapper': python, 'C++ wrapper': cpp });
    // In short and at length.
    for (const answer of await page.getByText('C++ wrapper?').all()) {
      const text = await answer.locator('..').textContent();
      expect(figuresIn(text!)).toEqual([wrappers]);
    }
    const body = (await page.locator('body').textContent())!;
    for (const figure of figuresIn(body)) {
      expect([python, cpp, wrappers]).toContain(figure);
    }
  });

  await page.goto(pathToFileURL(path.join(folder, 'page.html')).href);
  // The views are unpacked once the page has loaded.
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await test.step('in the sidebar', async () => {
    const table = page.locator('.jp-Compilescope-variants');
    await expectRows(table, { 'Python wrapper': python, 'C++ wrapper': cpp });
  });

  await test.step('on the Overview', async () => {
    const overview = await openView(page.locator('body'), 'Overview');
    const results = overview.getByRole('region', { name: 'Results' });
    await expectRows(results.getByRole('table'), {
      'Python wrapper python': python,
      'C++ wrapper cpp': cpp
    });
    for (const [name, figure] of [
      ['Is the C++ wrapper worth it?', wrappers],
      ['What to change', wrappers]
    ]) {
      const part = overview.getByRole('region', { name });
      await expectFigures(part, [figure]);
    }
    const headline = overview.getByRole('heading', { level: 2 });
    await expectFigures(headline, [cpp]);
  });

  await test.step('in Timings', async () => {
    const timings = await openView(page.locator('body'), 'Timings');
    const table = timings.getByRole('table', { name: 'Latency by variant' });
    await expectRows(table, overEager);
    const verdict = timings.getByRole('region', { name: 'Verdict' });
    await expectFigures(verdict, [wrappers]);
    // At the ends of the lines, the slower one below.
    const chart = timings.getByRole('img', { name: /^Running ratio/ });
    const labels = chart.locator('.annotation-text', { hasText: '×' });
    await expect(labels).toHaveCount(2);
    const texts = (await labels.allTextContents()).join('\n');
    expect(figuresIn(texts)).toEqual([python, cpp]);
    const charts = timings.getByRole('img', { name: /in the table below/ });
    await expect(charts).toHaveCount(2);
    for (const each of await charts.all()) {
      const spoken = (await each.getAttribute('aria-label'))!;
      expect(figuresIn(spoken)).toEqual([python, cpp]);
    }
  });

  await test.step('in a sweep', async () => {
    const sweep = await openView(page.locator('body'), 'Compare & deploy');
    for (const [name, figure] of Object.entries(overEager)) {
      const row = sweep.getByRole('row', { name: new RegExp(`^${name} `) });
      await expectFigures(row, [figure]);
    }
    await expect
      .poll(async () => [...new Set(figuresIn(await sweep.innerText()))].sort())
      .toEqual([python, cpp].sort());
  });

  await test.step('and no view has another', async () => {
    for (const view of [...IN_THE_BAR, ...UNDER_MORE]) {
      const panel = await openView(page.locator('body'), view);
      await expect(panel).not.toContainText('Loading');
      for (const figure of figuresIn(await panel.innerText())) {
        expect([python, cpp, wrappers], view).toContain(figure);
      }
    }
  });
});

/**
 * How many times faster or slower, wherever a text says so.
 */
function figuresIn(text: string): string[] {
  return text.match(/(?:at least )?[\d.]+× (?:faster|slower)/g) ?? [];
}

/**
 * Expect a part of the page to say these figures and no other, once it is filled.
 */
async function expectFigures(part: Locator, figures: string[]): Promise<void> {
  await expect
    .poll(async () => figuresIn(await part.innerText()))
    .toEqual(figures);
}

/**
 * Expect a table of variants to say these figures over eager, by name.
 */
async function expectRows(
  table: Locator,
  overEager: Record<string, string>
): Promise<void> {
  const figures = async () => {
    const [heads = [], ...rows] = await table
      .getByRole('row')
      .evaluateAll(all =>
        all.map((row, at) =>
          [...row.querySelectorAll<HTMLElement>('th, td')].map(each =>
            // Heads as they are declared: the style sheet capitalizes them.
            at === 0 ? (each.textContent ?? '') : each.innerText
          )
        )
      );
    const named = rows.flatMap(row => {
      const name = (row[heads.indexOf('variant')] ?? '').split('\n')[0].trim();
      const cell = row[heads.indexOf('over eager')] ?? '';
      return figuresIn(cell).map(text => [name, text]);
    });
    return Object.fromEntries(named) as Record<string, string>;
  };
  await expect.poll(figures).toEqual(overEager);
}

test('opens in a sandboxed frame, where scripts may only be inline', async ({
  page
}) => {
  const failed: string[] = [];
  page.on('pageerror', error => failed.push(error.message));
  page.on('console', message => {
    if (message.type() === 'error') {
      failed.push(message.text());
    }
  });
  // Most strict first: VS Code's and Colab's outputs, JupyterLab's HTML viewer.
  const policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";
  const text = fs.readFileSync(fileURLToPath(savePage('training')), 'utf8');
  for (const [headers, show] of [
    [{ 'Content-Security-Policy': policy }, 'srcdoc'],
    [{}, 'blob']
  ] as const) {
    await page.route('https://host.test/', route =>
      route.fulfill({
        contentType: 'text/html',
        headers,
        body: '<iframe sandbox="allow-scripts" style="width: 100%; height: 800px">'
      })
    );
    await page.goto('https://host.test/');
    await page.locator('iframe').evaluate(
      (frame: HTMLIFrameElement, { text, show }) => {
        if (show === 'srcdoc') {
          frame.srcdoc = text;
        } else {
          const blob = new Blob([text], { type: 'text/html' });
          frame.src = URL.createObjectURL(blob);
        }
      },
      { text, show }
    );
    const frame = page.frameLocator('iframe');
    await expect(frame.getByRole('heading', { level: 1 })).toContainText(
      'loss'
    );
    await frame.getByRole('tab', { name: 'Code', exact: true }).click();
    await expect(frame.getByText('launches, all on both sides')).toBeVisible();
    await page.unrouteAll();
  }
  expect(failed).toEqual([]);
});

test('says what is missing where nothing can be unpacked', async ({ page }) => {
  const url = savePage('training');
  await page.addInitScript('delete window.DecompressionStream');
  await page.goto(url);
  await expect(page.getByRole('alert')).toHaveText(
    /cannot be shown: .*DecompressionStream.*the browser too old/
  );
});

test('says that it is damaged where the views are', async ({ page }) => {
  const file = fileURLToPath(savePage('training'));
  const text = fs.readFileSync(file, 'utf8');
  const begin = text.indexOf('id="packed-script">') + 1000;
  fs.writeFileSync(file, text.slice(0, begin) + text.slice(begin + 400));
  await page.goto(pathToFileURL(file).href);
  await expect(page.getByRole('alert')).toHaveText(/It may be cut off/);
});

test('the viewer opens pages and files, and sends nothing', async ({
  page
}) => {
  const asked: string[] = [];
  page.on('request', request => asked.push(request.url()));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cs-viewer-'));
  const file = path.join(folder, 'viewer.html');
  execFileSync('python', ['-m', 'compilescope', 'viewer', '-o', file]);
  const url = pathToFileURL(file).href;
  await page.goto(url);
  const heading = page.getByRole('heading', { level: 1 });
  await expect(heading).toHaveText('compilescope viewer');
  await takePicture(page, 'viewer');
  const input = page.getByLabel('Or open a file');
  await input.setInputFiles(fileURLToPath(savePage('training')));
  await expect(heading).toContainText('loss');
  // Dropped onto the report that is open; it takes its place.
  const json = path.join(REPORTS, 'mlp.compilescope.json');
  const data = await page.evaluateHandle(
    text => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], 'mlp.compilescope.json'));
      return transfer;
    },
    fs.readFileSync(json, 'utf8')
  );
  await page.dispatchEvent('body', 'drop', { dataTransfer: data });
  await expect(heading).toContainText('Mlp');
  await expect(page.getByRole('tablist')).toHaveCount(1);
  const graph = await openView(page.locator('body'), 'Graph');
  await expect(graph).not.toContainText('Loading');
  await page.dispatchEvent('body', 'drop', {
    dataTransfer: await page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['<p>other</p>'], 'other.html'));
      return transfer;
    })
  });
  await expect(page.getByRole('alert')).toContainText('holds no report');
  expect(
    asked.filter(each => each !== url && !each.startsWith('blob:'))
  ).toEqual([]);
});

test('the viewer loads the report that its address names', async ({ page }) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cs-viewer-'));
  const file = path.join(folder, 'viewer.html');
  execFileSync('python', ['-m', 'compilescope', 'viewer', '-o', file]);
  const site = 'http://127.0.0.1:9';
  await page.route(`${site}/**`, route => {
    const isPage = route.request().url().endsWith('viewer.html');
    return route.fulfill({
      path: isPage ? file : path.join(REPORTS, 'mlp.compilescope.json')
    });
  });
  await page.goto(`${site}/viewer.html#report=mlp.compilescope.json&view=code`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Mlp');
  const tab = page.getByRole('tab', { name: 'Code', exact: true });
  await expect(tab).toHaveAttribute('aria-selected', 'true');
});

test('has the rules of its style sheets win as in JupyterLab', async ({
  page
}) => {
  await page.goto(`${savePage('breaks')}#view=breaks`);
  const facts = page.locator('.jp-Compilescope-card').first().locator('dd');
  const lefts = () =>
    facts
      .locator('button, code')
      .evaluateAll(nodes => [
        ...new Set(nodes.map(node => node.getBoundingClientRect().left))
      ]);
  // A list in the facts has no indent, although other lists in a card have one.
  await expect.poll(async () => (await lefts()).length).toBe(1);
});
