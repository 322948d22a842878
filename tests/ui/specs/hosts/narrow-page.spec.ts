import { expect, test, type Locator } from '@playwright/test';
import { takePicture } from '../../helpers/pictures';
import { savePage } from '../../helpers/savedPage';

/**
 * A saved page in a narrow window, such as a phone's.
 */

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
  // The answer is on the first screen: the title's row, the pickers', the tabs, the result.
  const top = (of: Locator) => of.evaluate(n => n.getBoundingClientRect().top);
  const result = page.getByRole('tabpanel').getByRole('heading', { level: 2 });
  await expect.poll(() => top(result)).toBeLessThan(200);
  const aside = page.getByRole('complementary');
  await expect
    .poll(async () => (await top(aside)) > (await top(result)))
    .toBe(true);
  await takePicture(page, 'saved-page-narrow');
});

test('is one line of variants below the views until it is opened', async ({
  page
}) => {
  await page.goto(savePage('training'));
  const aside = page.getByRole('complementary', {
    name: 'Variants and problems'
  });
  const height = () => aside.evaluate(node => node.clientHeight);
  for (const width of [420, 700, 850]) {
    await page.setViewportSize({ width, height: 900 });
    await expect(aside.getByRole('button', { expanded: false })).toBeVisible();
    await expect.poll(height).toBeLessThan(40);
    // The chart of latencies has room or none: the head is a line or two.
    const head = page.getByRole('region', { name: 'Results' }).locator('thead');
    await expect
      .poll(() => head.evaluate(node => node.clientHeight))
      .toBeLessThan(50);
  }
  await aside.getByRole('button', { expanded: false }).click();
  await expect.poll(height).toBeGreaterThan(300);
  await expect(aside.getByText('C++ wrapper')).toBeVisible();
  await page.setViewportSize({ width: 1000, height: 900 });
  await expect(aside.getByRole('button', { expanded: true })).toBeHidden();
});

test('shows symbols of sizes as a table in a narrow window, too', async ({
  page
}) => {
  await page.setViewportSize({ width: 420, height: 800 });
  await page.goto(`${savePage('recompiles')}#view=recompiles`);
  await page
    .getByRole('combobox', { name: 'Variant' })
    .selectOption('in the cell');
  await page.getByRole('combobox', { name: 'Compilation' }).selectOption('0/1');
  const table = page.getByRole('table', { name: 'Symbols of dynamic sizes' });
  await expect(table.getByRole('columnheader')).toHaveText([
    'Symbol',
    'Stands for',
    'Compiled with',
    'Range',
    'Line'
  ]);
  for (const head of await table.getByRole('columnheader').all()) {
    await expect(head).toHaveCSS('display', 'table-cell');
  }
});

/**
 * The pairs of a table's texts that are drawn over each other, and the texts that are cut.
 */
const unreadable = (table: Locator): Promise<string[]> =>
  table.evaluate(node => {
    const cells = [...node.querySelectorAll('th, td')].flatMap(cell => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const { left, right, top, bottom } = range.getBoundingClientRect();
      return right > left ? [{ cell, left, right, top, bottom }] : [];
    });
    const cut = cells.filter(({ cell }) =>
      [cell, ...cell.querySelectorAll('*')].some(
        part =>
          getComputedStyle(part).overflowX !== 'visible' &&
          part.scrollWidth > part.clientWidth
      )
    );
    const over = cells.filter((a, i) =>
      cells
        .slice(i + 1)
        .some(
          b =>
            Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
        )
    );
    return [...cut, ...over].map(({ cell }) => cell.textContent);
  });

test('keeps tables readable in a panel that a wide sidebar leaves no room', async ({
  page
}) => {
  const address = savePage('recompiles');
  for (const [view, name] of [
    ['overview', 'Results by variant'],
    ['recompiles', 'What failed'],
    ['requested', 'How extern and custom operators are called']
  ]) {
    await page.setViewportSize({ width: 170, height: 900 });
    await page.goto('about:blank');
    await page.goto(`${address}#view=${view}`);
    for (const width of [170, 215, 260]) {
      await page.setViewportSize({ width, height: 900 });
      const table = page.getByRole('table', { name }).first();
      await expect
        .poll(() => table.evaluate(node => node.clientWidth))
        .toBeLessThan(width);
      await expect.poll(() => unreadable(table)).toEqual([]);
    }
    await takePicture(page, `saved-page-${view}-very-narrow`);
  }
  await page.goto('about:blank');
  await page.goto(`${address}#view=overview`);
  const row = page.getByRole('row', { name: 'Python wrapper' });
  await expect(row.getByText('slower')).toBeVisible();
  await expect(row.getByText('1.05 s')).toBeVisible();
});
