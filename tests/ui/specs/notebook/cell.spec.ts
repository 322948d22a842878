import type { Locator, Page } from '@playwright/test';
import { openSidebar, subjects } from '../../helpers/compilescope';
import {
  cell,
  openNotebook,
  run,
  runAll,
  SUBJECT
} from '../../helpers/notebook';
import { takePicture } from '../../helpers/pictures';
import { REPORTS } from '../../helpers/savedPage';
import { SHARED, shutDown } from '../../helpers/shared';
import { expect, test } from '../../helpers/test';

test.afterAll(({ request }) => shutDown(request));

/**
 * The widths of the page. The panel takes more than half of it.
 */
const WIDTHS = [600, 900, 1280, 1440, 1600, 1900];

/**
 * What a cell may show of a report: its height in pixels. In a page of 600
 * pixels, a notebook beside the panel has 110.
 */
const heightAt = (width: number): number => (width < 900 ? 450 : 400);

/**
 * Shows, as beside the panel, all that a report can hold: five variants with
 * times, of few samples too, estimates for devices that are not there, an error.
 */
const MOST = `from IPython.display import HTML
import compilescope as cs
from compilescope.views.html import report as html

whole = cs.load("${REPORTS}/mlp.compilescope.json")
whole.variants += cs.load("${REPORTS}/targets.compilescope.json").variants
timing = whole.variant("cpp").timing
timing.samples_us, timing.interval_us = [297_000.0, 390_000.0], (297_000.0, 390_000.0)
timing.median_us, timing.few = 344_000.0, True
timing.fill_interval()
whole.variants += [whole.variant("cpp"), whole.variant("cpp")]
whole.problems.append(cs.report.Problem(severity="error", what="No compiler. " * 20))
HTML(html.render(whole, panel=True))`;

/**
 * A call that recompiles each time, whose headline has two sentences, and whose
 * times are noisy.
 */
const ALWAYS = `recompiling = cs.load("${REPORTS}/mlp.compilescope.json")
noisy = cs.report.Speedup(ratio=1.0, standing="noisy", text="too noisy to judge")
for name in ("python", "cpp"):
    timing = recompiling.variant(name).timing
    timing.recompiles, timing.speedup = "self.calls", noisy
HTML(html.render(recompiling, panel=True))`;

/**
 * Watches a function that breaks and recompiles.
 */
const WATCHED = `import torch
import compilescope as cs

@torch.compile(backend="eager", dynamic=False)
def halved(x):
    if x.sum() > 0:
        x = x / 2
    print("halved", x.shape)
    return x.sin()

with cs.watch() as watched:
    for size in (3, 4, 5, 6):
        halved(torch.ones(size))
watched`;

test('beside the panel a cell is short, light and dark', async ({ page }) => {
  const cells = [...SUBJECT, MOST, ALWAYS];
  await openNotebook(page, SHARED, 'cell.ipynb', cells);
  await runAll(page, cells.length);
  await expectFit(page, cell(page, 3).locator('.jp-Cell-outputArea'));
  const always = cell(page, 4).locator('.jp-Cell-outputArea');
  await expectFit(page, always);
  const headline = always.locator('p').first();
  await expect(headline).toContainText('Every call recompiles');
  for (const width of [1280, 1440]) {
    await page.setViewportSize({ width, height: 1000 });
    await expect
      .poll(() => headline.evaluate(p => p.scrollHeight - p.clientHeight), {
        message: `lines cut from the headline at ${width} px`
      })
      .toBe(0);
    const noisy = always.getByText('too noisy to judge');
    await expect(noisy).toHaveCount(2);
    await expect
      .poll(() => noisy.first().evaluate(n => n.getClientRects().length), {
        message: `lines of “too noisy to judge” at ${width} px`
      })
      .toBeLessThanOrEqual(2);
  }
  await expect(page.locator('.jp-Compilescope-tabs')).toBeVisible();
  const output = cell(page, 2).locator('.jp-Cell-outputArea');
  await expect(output.getByRole('button')).toHaveText(['Open in the panel']);
  await expect(output.locator('details, .jupyter-widgets')).toHaveCount(0);
  for (const theme of ['light', 'dark'] as const) {
    await (theme === 'dark'
      ? page.theme.setDarkTheme()
      : page.theme.setLightTheme());
    await expectFit(page, output);
    for (const width of [1280, 1920]) {
      await page.setViewportSize({ width, height: 1000 });
      await output.getByRole('button').scrollIntoViewIfNeeded();
      await takePicture(page, `cell-${theme}-${width}`);
    }
  }
});

test('the cell that ran stays in view while the panel opens beside it', async ({
  page
}) => {
  // What is above takes more lines in a narrower notebook.
  const cells = [`print("word " * 1500)`, ...SUBJECT];
  await openNotebook(page, SHARED, 'scrolled.ipynb', cells);
  await runAll(page, cells.length - 1);
  const last = cell(page, cells.length - 1).locator('.jp-Cell-inputWrapper');
  // What is printed above moves it until it is there.
  await expect(cell(page, 0).locator('.jp-OutputArea-output')).toContainText(
    'word'
  );
  const top = async () => (await last.boundingBox())?.y ?? NaN;
  let before = NaN;
  await expect
    .poll(async () => {
      await last.scrollIntoViewIfNeeded();
      const previous = before;
      before = await top();
      return before === previous;
    })
    .toBe(true);
  await run(page, cells.length - 1);
  await expect(page.locator('.jp-Compilescope-tabs')).toBeVisible();
  await expect
    .poll(async () => Math.abs((await top()) - before))
    .toBeLessThan(60);
  await expect(last).toBeInViewport();
});

test('its button opens the report of its cell', async ({ page }) => {
  const other = '%%compile --no-run\n(lambda: attend(x, y).sum())()';
  const cells = [...SUBJECT, other];
  await openNotebook(page, SHARED, 'cell.ipynb', cells);
  await openSidebar(page);
  await runAll(page, cells.length);
  const overview = page.getByRole('region', { name: 'Overview' });
  const selected = subjects(page).and(
    page.getByRole('option', { selected: true })
  );
  await expect(selected).toContainText('lambda');
  await page
    .locator('.lm-DockPanel .lm-TabBar-tab', { hasText: 'cell.ipynb: ' })
    .locator('.lm-TabBar-tabCloseIcon')
    .click();
  await expect(overview).toHaveCount(0);
  const button = cell(page, 2).getByRole('button', {
    name: 'Open in the panel'
  });
  await button.click();
  await expect(overview).toBeVisible();
  await expect(selected).toContainText('attend');
});

test('a watch says what recompiled and what broke', async ({ page }) => {
  await openNotebook(page, SHARED, 'watched.ipynb', [
    '%load_ext compilescope',
    WATCHED
  ]);
  await openSidebar(page);
  await runAll(page, 2);
  const output = cell(page, 1).locator('.jp-Cell-outputArea');
  await expect(output.locator('.jp-RenderedHTML p').first()).toContainText(
    /^\d+ compilations: \d+ recompiles and 2 graph breaks/
  );
  await expect(output).toContainText('x.size(0): ');
  await expect(output.locator('details[open]')).toHaveCount(0);
  await expectFit(page, output);
  await page.setViewportSize({ width: 1280, height: 1000 });
  await takePicture(page, 'cell-watch-1280');
  await output.getByRole('button', { name: 'Open in the panel' }).click();
  await expect(page.getByRole('region', { name: 'Overview' })).toBeVisible();
});

test('a report as the last line has folds, which clip nothing', async ({
  page
}) => {
  await openNotebook(page, SHARED, 'cell.ipynb', [...SUBJECT, '_report']);
  await runAll(page, SUBJECT.length);
  await run(page, SUBJECT.length);
  const output = cell(page, 3).locator('.jp-Cell-outputArea');
  await expect(output.locator('details[open]')).toHaveCount(0);
  await expectFit(page, output);
  // With its prompt, which stands above it where the notebook is narrow.
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 1000 });
    await expect
      .poll(
        () => output.evaluate(node => node.getBoundingClientRect().height),
        { message: `height of the output at ${width} px` }
      )
      .toBeLessThan(heightAt(width));
  }
  await output.locator('details').evaluateAll(nodes =>
    nodes.forEach(node => {
      (node as HTMLDetailsElement).open = true;
    })
  );
  const code = output.locator('pre:visible');
  await expect(code).not.toHaveCount(0);
  const wrapped = await code.evaluateAll(
    nodes =>
      nodes.filter(node => {
        const { whiteSpace, overflowX } = getComputedStyle(node);
        return whiteSpace !== 'pre' || overflowX !== 'auto';
      }).length
  );
  expect(wrapped).toBe(0);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 1000 });
    await expect
      .poll(() => cut(output), { message: `cut at ${width} px` })
      .toBe(0);
  }
  await takePicture(page, 'cell-folds');
});

/**
 * Expect the report in an output to be short, and whole from side to side, at
 * every width. The value of the last line stands beside it.
 */
async function expectFit(page: Page, output: Locator): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 1000 });
    await expect(output).toBeVisible();
    const report = output.locator('.jp-RenderedHTML');
    await expect
      .poll(() => report.evaluate(node => node.clientHeight), {
        message: `height at ${width} px`
      })
      .toBeLessThan(heightAt(width));
    await expect
      .poll(() => cut(output), { message: `cut at ${width} px` })
      .toBe(0);
    await expect
      .poll(() => report.evaluate(outOfSight), {
        message: `buttons out of sight at ${width} px`
      })
      .toBe(0);
    await expect
      .poll(() => clippedHeads(output), { message: `heads at ${width} px` })
      .toEqual([]);
  }
}

/**
 * How many buttons of a report have to be scrolled to within it.
 */
function outOfSight(report: Element): number {
  const { bottom } = report.getBoundingClientRect();
  return [...report.querySelectorAll('button')].filter(
    button => button.getBoundingClientRect().bottom > bottom + 1
  ).length;
}

/**
 * The heads of the table of results that reach beyond its place, where there is
 * room for a table.
 */
function clippedHeads(output: Locator): Promise<string[]> {
  return output.locator('thead th:visible').evaluateAll(heads =>
    heads
      .filter(head => {
        const place = head.closest('table')!.parentElement!;
        return (
          place.clientWidth >= 260 &&
          head.getBoundingClientRect().right >
            place.getBoundingClientRect().right + 1
        );
      })
      .map(head => head.textContent ?? '')
  );
}

/**
 * How much wider an output is than its place. What is wide in it has a scroll
 * bar of its own; only where the notebook itself is too narrow to read, the
 * output as a whole has.
 */
function cut(output: Locator): Promise<number> {
  return output.locator('.jp-RenderedHTML > div').evaluate(node => {
    const isNarrow = node.clientWidth < 260;
    return isNarrow ? 0 : node.scrollWidth - node.clientWidth;
  });
}
