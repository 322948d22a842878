import { expect, test } from '@playwright/test';
import { execFileSync } from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import { fileURLToPath, pathToFileURL } from 'url';
import { takePicture } from '../helpers/pictures';
import { IN_THE_BAR, openView, UNDER_MORE } from '../helpers/report';
import { REPORTS, savePage } from '../helpers/savedPage';

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

test('opens at the view that its address names', async ({ page }) => {
  await page.goto(`${savePage('recompiles')}#view=recompiles`);
  const tab = page.getByRole('tab', { name: /^Recompiles/ });
  await expect(tab).toHaveAttribute('aria-selected', 'true');
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

test('fits a narrow window', async ({ page }) => {
  await page.setViewportSize({ width: 420, height: 800 });
  await page.goto(savePage('recompiles'));
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const overflow = () =>
    page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth
    );
  await expect.poll(overflow).toBeLessThanOrEqual(0);
  // The chart has no room, and its title takes none: the head is a line or two.
  const head = page.getByRole('region', { name: 'Results' }).locator('thead');
  await expect
    .poll(() => head.evaluate(node => node.clientHeight))
    .toBeLessThan(50);
  await takePicture(page, 'saved-page-narrow');
});
