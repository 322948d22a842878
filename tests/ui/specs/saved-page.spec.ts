import { expect, test } from '@playwright/test';
import { execFileSync } from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import { pathToFileURL } from 'url';
import { takePicture } from '../helpers/pictures';
import { IN_THE_BAR, openView, UNDER_MORE } from '../helpers/report';

/**
 * A saved page, as somebody opens it who was sent it: no JupyterLab, no
 * network.
 */

const REPORTS = path.resolve(__dirname, '../../data/reports');
const EVIL =
  '<img src=x onerror="window.evil=1"><script>window.evil=1</script>';

/**
 * Save a kept report as a page.
 *
 * @param change - Python that changes the report `r` before.
 */
function save(name: string, change = ''): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cs-page-'));
  const file = path.join(folder, `${name}.html`);
  const report = path.join(REPORTS, `${name}.compilescope.json`);
  const code = `import sys, compilescope as cs\nr = cs.load(sys.argv[1])\n${change}\nr.save(sys.argv[2])`;
  execFileSync('python', ['-c', code, report, file]);
  return pathToFileURL(file).href;
}

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
  const url = save('training');
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
  const url = save(
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

test('fits a narrow window', async ({ page }) => {
  await page.setViewportSize({ width: 420, height: 800 });
  await page.goto(save('recompiles'));
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - window.innerWidth
  );
  expect(overflow).toBeLessThanOrEqual(0);
  await takePicture(page, 'saved-page-narrow');
});
