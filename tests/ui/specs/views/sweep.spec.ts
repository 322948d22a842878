import type { Locator } from '@playwright/test';
import { openNotebook, run, runAll, MODEL } from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import {
  expectNames,
  expectText,
  openSample,
  openView,
  picture
} from '../../helpers/views';
import { expect, test } from '../../helpers/test';

test.afterAll(({ request }) => shutDown(request));

const EXECUTOR = `import compilescope as cs
from concurrent.futures import ThreadPoolExecutor

cs.configure(executors={"two at a time": ThreadPoolExecutor(2)})`;

/**
 * A time, on however slow a machine.
 */
const TIME = /\d [µm]s/;

test('a sweep, from the form to the winner', async ({ page }) => {
  const notebook = `${SHARED}/sweep.ipynb`;
  await openNotebook(page, SHARED, 'sweep.ipynb', [...MODEL, EXECUTOR]);
  await runAll(page, MODEL.length);
  const view = await openView(page, 'sweep', 'Compare & deploy', notebook);
  const status = view.locator('.jp-Compilescope-statusLine');
  const button = (name: string) =>
    view.getByRole('button', { name, exact: true });
  const tick = (group: string, name: string) =>
    view
      .getByRole('group', { name: group, exact: true })
      .getByRole('checkbox', { name, exact: true });
  const toolbar = view.getByRole('toolbar', { name: 'Compare' });
  const seconds = view.getByRole('combobox', { name: 'measure a cell for' });

  await test.step('the form counts the cells', async () => {
    await expect(toolbar).toContainText('4 cells (2 modes × 2 wrappers)');
    await view.getByRole('button', { name: 'Add a shape' }).click();
    await expect(toolbar).toContainText('Every shape needs a name');
    await expect(button('Start')).toBeDisabled();
    await picture(page, view, 'sweep-form');
    await button('Remove shape 2').click();
    await button('Remove shape 1').click();
    await tick('mode', 'max-autotune-no-cudagraphs').uncheck();
    await expect(toolbar).toContainText('2 cells');
  });

  await test.step('rows fill in, the kernel stays free', async () => {
    await view.getByRole('checkbox', { name: 'reuse finished' }).uncheck();
    await seconds.selectOption('1');
    const states = await recordStates(view);
    await button('Start').click();
    await expect(status).toContainText('All 2 cells are done');
    await expect(row(view, 'cpp')).toContainText(TIME);
    const shown = await states();
    const first = shown.findIndex(
      ({ status, rows }) =>
        /0 of 2 cells.*now python \(/.test(status) && /waiting/.test(rows[1])
    );
    const second = shown.findIndex(
      ({ status, rows }) =>
        /1 of 2 cells/.test(status) && TIME.test(rows[0]) && !TIME.test(rows[1])
    );
    expect(first, JSON.stringify(shown)).toBeGreaterThanOrEqual(0);
    expect(second, JSON.stringify(shown)).toBeGreaterThan(first);
    expect(shown.filter(state => /busy/.test(state.kernel))).toEqual([]);
  });

  await test.step('the winner can be pasted, if it is faster', async () => {
    await expect(
      view.getByRole('region', { name: 'Result', exact: true })
    ).toContainText(
      /compiled = torch\.compile\(model|(Every|No) variant is|is not clearly faster/
    );
    await expect(view.locator('.js-plotly-plot')).toHaveCount(1);
  });

  await test.step('a row opens, by keys too', async () => {
    await view.getByRole('grid', { name: 'Cells' }).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    const details = view.getByRole('region', { name: /^Cell cpp/ });
    await expect(details).toContainText('First call');
    await expect(details).toContainText('Inspect this variant');
  });

  await test.step('canceled, it keeps what is finished', async () => {
    // So long that no cell ends before the click.
    await seconds.selectOption('30');
    await button('Start').click();
    await button('Cancel').click();
    await expect(status).toContainText('Canceled after 0 of 2 cells');
    await expect(row(view, 'cpp')).toContainText('canceled');
    await seconds.selectOption('1');
    await view.getByRole('checkbox', { name: 'reuse finished' }).check();
    await button('Start').click();
    await expect(status).toContainText('All 2 cells are done');
    await expect(status).toContainText('2 of 2 cells are reused');
  });

  await test.step('an executor that has a name runs the cells', async () => {
    const place = toolbar.getByRole('combobox', { name: 'run on' });
    await expect(place).toBeHidden();
    await run(page, MODEL.length);
    await place.selectOption('two at a time');
    await picture(page, view, 'sweep-executor');
    await view.getByRole('checkbox', { name: 'reuse finished' }).uncheck();
    await seconds.selectOption('30');
    await button('Start').click();
    await expect(status).toContainText(/now python \(.*\), cpp \(/);
    await button('Cancel').click();
    await expect(status).toContainText('Canceled after 0 of 2 cells');
  });
});

test('all ways in which a cell can end', async ({ page, tmpPath }) => {
  const script = 'sample_sweep.py';
  const view = await openSample(
    page,
    'Compare & deploy',
    'Compare & deploy',
    tmpPath,
    script
  );
  const grid = view.getByRole('grid', { name: 'Cells' });
  const details = view.getByRole('region', { name: /^Cell / });

  await test.step('said in words', async () => {
    await expect(view).toContainText('All 15 cells are done');
    await expect(view).toContainText(
      '1 failed · 1 crashed · 1 timed out · 1 out of memory'
    );
    await expect(view).toContainText('2 of 15 cells are reused');
    for (const state of ['timed out', 'out of memory', 'crashed', 'failed']) {
      await expect(grid).toContainText(state);
    }
    await expect(row(view, 'python').first()).toContainText('1.62× faster');
    await expect(row(view, 'python').nth(1)).toContainText('no difference');
    await expectText(page, view);
  });

  await test.step('sorted', async () => {
    await grid.getByRole('button', { name: 'latency' }).click();
    const shown = grid.getByRole('row').filter({ hasText: 'µs' });
    await expect(shown.first()).toContainText('cpp dynamic');
  });

  await test.step('a problem in full', async () => {
    await row(view, 'max-autotune').first().click();
    await expect(details).toContainText('It did not end within 300 s.');
  });

  await test.step('a point is a row', async () => {
    // Plotly hears of the pointer by a layer that lies above.
    const point = view.locator('.js-plotly-plot .points path').first();
    await point.click({ force: true });
    await expect(details).toContainText('Total time');
    await expect(grid.locator('[aria-selected=true]')).toHaveCount(1);
  });

  await test.step('ways to deploy, and their code', async () => {
    const part = view.getByRole('region', {
      name: 'Ways to deploy',
      exact: true
    });
    await expect(part).toContainText(
      'Lowest latency: C++ wrapper. Shortest time to the first result among the ways faster than eager: AOTInductor. Best product of first result and call time: AOTInductor.'
    );
    await expect(part).toContainText(
      'As shipped, the C++ compiler runs again: the files do not contain the libraries that it built (C++ wrapper).'
    );
    await expect(part.locator('.main-svg').first()).toBeVisible();
    await part.getByRole('button', { name: 'blocks compiled' }).click();
    await expect(
      part.getByRole('region', { name: 'Code of blocks compiled' })
    ).toContainText('torch.compiler.load_cache_artifacts');
    await part.scrollIntoViewIfNeeded();
    await picture(page, part, 'deploy');
  });

  await expectNames(view);
  await picture(page, view, 'sweep');
});

interface IState {
  status: string;
  rows: string[];
  kernel: string;
}

/**
 * Record what the view and the sidebar show, from now on: a busy machine may
 * pass through a state between two looks from here.
 */
async function recordStates(view: Locator): Promise<() => Promise<IState[]>> {
  const states = await view.evaluateHandle(node => {
    const states: IState[] = [];
    const text = (element: Element | null) => element?.textContent ?? '';
    const record = () =>
      states.push({
        status: text(node.querySelector('.jp-Compilescope-statusLine')),
        rows: [
          ...node.querySelectorAll('[role=grid] .jp-Compilescope-tableRow')
        ].map(text),
        kernel: text(document.querySelector('.jp-Compilescope-progress'))
      });
    new MutationObserver(record).observe(node, {
      subtree: true,
      childList: true,
      characterData: true
    });
    return states;
  });
  return () => states.jsonValue();
}

/**
 * The rows of a variant.
 */
function row(view: Locator, variant: string): Locator {
  return view
    .getByRole('grid', { name: 'Cells' })
    .getByRole('row')
    .filter({
      has: view.page().getByRole('gridcell', { name: variant, exact: true })
    });
}
