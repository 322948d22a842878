import { takePicture } from '../../helpers/pictures';
import { expect, test } from '../../helpers/test';
import type { Locator, Page } from '@playwright/test';
import {
  editors,
  openSidebar,
  subjects,
  toggle
} from '../../helpers/compilescope';
import {
  cell,
  notebook,
  openNotebook,
  reload,
  runAll,
  MODEL
} from '../../helpers/notebook';
import { isStored, SHARED, shutDown } from '../../helpers/shared';
import { expectNames, openView, picture } from '../../helpers/views';

/**
 * Of more samples a variant's row shows every other one, or fewer.
 */
const DRAWN = 320;

/**
 * While it is measured a processor is busy.
 */
const OFTEN = { intervals: [100] };

test.afterAll(({ request }) => shutDown(request));

test('timings, from the first round to the layers of a call', async ({
  page
}) => {
  const file = `${SHARED}/timings.ipynb`;
  await openNotebook(page, SHARED, 'timings.ipynb', MODEL);
  await openSidebar(page);
  await runAll(page, MODEL.length);
  let view = await openView(page, 'timings', 'Timings', file);
  const status = () => view.locator('.jp-Compilescope-statusLine');
  const button = (name: string) =>
    view.getByRole('button', { name, exact: true });

  await test.step('nothing is measured yet, and why', async () => {
    await expect(status()).toContainText('Nothing measured yet');
    await expect(button('Break down the time')).toBeDisabled();
    await expect(view).toContainText('No selected variant is built yet');
  });

  await test.step('points stream in while it is measured', async () => {
    await view
      .getByRole('combobox', { name: 'for' })
      .selectOption({ label: '10 min' });
    await button('Start').click();
    await expect(button('Pause')).toBeVisible();
    await expect(status()).toContainText(/Measuring.*\d rounds/);
    const few = await points(view);
    await expect.poll(() => points(view), OFTEN).not.toBe(few);
  });

  await test.step('a pause keeps what there is', async () => {
    await button('Pause').click();
    await expect(status()).toContainText(/Paused after [\d,]+ rounds/);
    await expectAllRounds(view, 'cpp');
    const before = await rounds(view);
    expect(before).toBeGreaterThan(0);
    await button('Resume').click();
    await expect.poll(() => rounds(view), OFTEN).toBeGreaterThan(before);
  });

  await test.step('a switch has a new variant join the others', async () => {
    const before = await rounds(view);
    // Its kernels are those of the others: they are not compiled again.
    await toggle(page, 'fullgraph').check();
    const newcomer = samples(view, 'python fullgraph');
    await expect(newcomer).toHaveText(/^[1-9]/);
    await button('Pause').click();
    await expect(status()).toContainText('Paused');
    await expectAllRounds(view, 'eager');
    const all = await rounds(view);
    expect(all).toBeGreaterThan(before);
    expect(number(await newcomer.textContent())).toBeLessThan(all);
  });

  await test.step('a closer look tells where the time goes', async () => {
    await view.getByRole('checkbox', { name: 'python fullgraph' }).uncheck();
    await button('Break down the time').click();
    const layers = view.getByRole('region', { name: /Where one call/ });
    await expect(layers.getByRole('listitem').first()).toContainText('sum');
    await expect(layers).toContainText('Dynamo entry and guards');
    await expect(button('Break down the time')).toBeEnabled();
    await layers.scrollIntoViewIfNeeded();
    await layers.getByText('How each was measured').click();
    await takePicture(page, 'timings-layers');
    await status().scrollIntoViewIfNeeded();
  });

  await expectNames(view);
  await picture(page, view, 'timings');

  await test.step('begun anew, only with what is ticked', async () => {
    await button('Restart').click();
    await expect(status()).toContainText(/Measuring.*\d rounds/);
    await button('Pause').click();
    await expect(status()).toContainText('Paused');
    await expectAllRounds(view, 'cpp');
  });

  await test.step('views stand beside each other', async () => {
    const stored = isStored(page, file, 1, 'timings');
    await openIn(page, { path: file, view: 'code' });
    await openIn(page, { path: file, view: 'timings', beside: true });
    await expectBeside(page);
    await takePicture(page, 'views-beside');
    await stored;
  });

  await test.step('a reload keeps views and measurements', async () => {
    view = page.getByRole('region', { name: 'Timings', exact: true });
    const before = await rounds(view);
    // The view is too narrow for the column of samples.
    const median = (await figures(view, 'cpp').first().textContent())!;
    await notebook(page).press('Control+s');
    await reload(page);
    await expect(subjects(page)).toHaveCount(1);
    await expect(subjects(page)).toContainText('Sequential');
    await expectBeside(page);
    await expect(editors(page).first()).toContainText('extern_kernels.addmm(');
    await expect(cell(page, 0)).toBeVisible();
    await expect(status()).toContainText(`Paused after ${text(before)} rounds`);
    await expect(figures(view, 'cpp').first()).toHaveText(median);
    await expect
      .poll(() => points(view))
      .toBeGreaterThan(Math.min(before, DRAWN));
  });
});

/**
 * Open a view of a notebook's report, in a panel of its own if it is `beside`.
 */
function openIn(
  page: Page,
  args: { path: string; view: string; beside?: boolean }
): Promise<void> {
  return page.evaluate(async args => {
    const { jupyterapp } = window as unknown as {
      jupyterapp: {
        commands: { execute(id: string, args: object): Promise<unknown> };
      };
    };
    await jupyterapp.commands.execute('compilescope:open-view', args);
  }, args);
}

/**
 * Expect the code and the timings, each in a panel.
 */
async function expectBeside(page: Page): Promise<void> {
  await expect(page.locator('.jp-Compilescope-shell:visible')).toHaveCount(2);
  await expect(
    page.locator('.jp-Compilescope-tab[aria-selected=true]:visible')
  ).toHaveText(['Code', 'Timings']);
  await expect(editors(page)).toHaveCount(2);
}

/**
 * How many samples are drawn: each is a piece of its variant's path.
 */
function points(view: Locator): Promise<number> {
  return view
    .getByRole('region', { name: 'Latency per call' })
    .locator('path.js-line')
    .evaluateAll(paths =>
      paths.reduce(
        (sum, path) => sum + (path.getAttribute('d')?.match(/M/g)?.length ?? 0),
        0
      )
    );
}

/**
 * After how many rounds the measurement stands.
 */
async function rounds(view: Locator): Promise<number> {
  const text = await view.locator('.jp-Compilescope-statusLine').textContent();
  return number(/([\d,]+) rounds?/.exec(text ?? '')?.[1] ?? '0');
}

/**
 * Expect a variant to have a sample of each round. The last ones may come after the
 * pause.
 */
async function expectAllRounds(view: Locator, variant: string): Promise<void> {
  await expect
    .poll(async () => {
      const shown = number(await samples(view, variant).textContent());
      return shown > 0 && shown === (await rounds(view));
    })
    .toBe(true);
}

/**
 * How many samples a variant has, in the table.
 */
function samples(view: Locator, variant: string): Locator {
  return figures(view, variant).nth(3);
}

/**
 * The figures of a variant, in the table; the median is the first.
 */
function figures(view: Locator, variant: string): Locator {
  const table = view.getByRole('table', { name: 'Latency by variant' });
  return table
    .getByRole('row')
    .filter({
      has: view.page().getByRole('rowheader', { name: variant })
    })
    .getByRole('cell');
}

function number(text: string | null): number {
  return Number((text ?? '').replace(/,/g, ''));
}

function text(value: number): string {
  return value.toLocaleString('en');
}
