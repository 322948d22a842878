import type { Page } from '@playwright/test';
import {
  choice,
  clickLine,
  editor,
  editors,
  marked,
  openCode,
  openSidebar,
  picker,
  sidebar,
  subjects,
  toggle,
  type Side,
  variants
} from '../../helpers/compilescope';
import { cell, MODEL, openNotebook, runAll } from '../../helpers/notebook';
import { takePicture } from '../../helpers/pictures';
import { SHARED, shutDown } from '../../helpers/shared';
import { openView, picture } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

/**
 * A time, on however slow a machine.
 */
const TIME = /\d [µm]s/;
const TIMES = { name: 'time', exact: true };

// The size of the README's picture.
test.use({ viewport: { width: 1920, height: 1080 } });

test.afterAll(({ request }) => shutDown(request));

test('from the cell to the panel, and to its switches', async ({ page }) => {
  const notebook = await openNotebook(page, SHARED, 'first.ipynb', MODEL);
  await openSidebar(page);
  await runAll(page, MODEL.length);

  await test.step('the cell shows its result', async () => {
    const output = cell(page, 2).locator('.jp-Cell-outputArea');
    await expect(output).toContainText('Open in the panel');
    await expect(output.locator('.jp-mod-error')).toHaveCount(0);
    const report = output.locator('.jp-RenderedHTML');
    await expect
      .poll(() => report.evaluate(node => node.clientHeight))
      .toBeLessThan(400);
  });

  await test.step('the report opens on the Overview', async () => {
    const overview = page.getByRole('region', { name: 'Overview' });
    await expect(overview.getByRole('heading', { level: 2 })).toBeVisible();
    await expect(overview.getByRole('row')).not.toHaveCount(0);
    await takePicture(page, 'overview');
    await openCode(page);
  });

  await test.step('both wrappers are open beside the notebook', async () => {
    await expect(editor(page, 'python')).toContainText('extern_kernels.addmm(');
    await expect(editor(page, 'cpp')).toContainText('addmm_out(');
    await expect(picker(page, 'Left side', 'variant')).toHaveValue('python');
    await expect(picker(page, 'Right side', 'variant')).toHaveValue('cpp');
  });

  await test.step('the sidebar knows the subject', async () => {
    const subject = subjects(page).and(
      page.getByRole('option', { selected: true })
    );
    await expect(subject).toContainText('Sequential');
    await expect(subject).toContainText('float32[32, 64]');
  });

  const kernels = () => openView(page, 'kernels', 'Kernels', notebook);
  const measure = page.getByRole('button', { name: 'Measure kernels' });

  await test.step('nothing is measured before it is built', async () => {
    const view = await kernels();
    await expect(measure).toBeDisabled();
    await expect(view).toContainText('Build and time it first.');
    await expect(view.getByRole('columnheader', TIMES)).toHaveCount(0);
    await openCode(page);
  });

  await test.step('a build keeps the place, and gives times', async () => {
    const launch = /^\s*cpp_fused_\w+\(/;
    const python = editor(page, 'python');
    await clickLine(python, launch);
    await expect(marked(python, launch)).toBeInViewport();
    // Before anything is timed: a busy machine's figures are nothing to show.
    await takePicture(page, 'panel');
    await sidebar(page).getByRole('button', { name: 'Build and time' }).click();
    const ratios = variants(page).filter({
      hasText: /\d× (faster|slower)|no difference|too noisy|too few/
    });
    await expect(ratios).toHaveCount(2);
    await expect(
      variants(page).filter({ hasText: 'sources only' })
    ).toHaveCount(0);
    await expect(sidebar(page)).toContainText(/verdict/i);
    await expect(marked(python, launch)).toBeInViewport();
    await expect(marked(editor(page, 'cpp'), launch).first()).toBeInViewport();
  });

  await test.step('kernels are measured, with the share of the peak', async () => {
    const view = await kernels();
    const table = view.getByRole('grid', { name: 'Kernels' });
    await measure.click();
    await expect(
      view.getByRole('button', { name: 'Measure again' })
    ).toBeEnabled();
    await expect(table.getByRole('columnheader', TIMES)).toBeVisible();
    const rows = table.getByRole('row');
    await expect(rows.nth(1)).toContainText(TIME);
    await expect(rows.nth(2)).toContainText(TIME);
    await expect(table).toContainText(
      // Which of them depends on the size of the machine's caches.
      /%\s*(memory|arithmetic)|in cache/
    );
    await rows.nth(2).click();
    await expect(view.getByRole('region', { name: /^Kernel / })).toContainText(
      /measured over \d+ calls/
    );
    await picture(page, view, 'kernels-measured');
  });

  await test.step('their times are on the graph', async () => {
    const graph = await openView(page, 'graph', 'Graph', notebook);
    await graph.getByRole('combobox', { name: 'Color' }).selectOption('time');
    await expect(graph.locator('.jp-Compilescope-graph-legend')).toContainText(
      /\d.*–.*\d [µm]s/
    );
    await picture(page, graph, 'graph-times');
  });

  await test.step('and beside their launches in the code', async () => {
    await openCode(page);
    const times = page.locator('.jp-Compilescope-code-times span:visible');
    await expect(times.first()).toHaveText(TIME);
    await expect(times.first()).toHaveAttribute('title', /measured over/);
    await takePicture(page, 'code-times-light');
  });

  await test.step('a mode shows its own sources', async () => {
    const mode = 'max-autotune-no-cudagraphs';
    await choice(page, 'mode').selectOption(mode);
    await shows(page, 'Left side', mode);
    await expect(editors(page).first()).toContainText('extern_kernels.addmm(');
    await expect(picker(page, 'Right side', 'variant')).toHaveValue('cpp');
  });

  await test.step('so does cpp_wrapper, on the right', async () => {
    await toggle(page, 'cpp_wrapper').check();
    await shows(page, 'Right side', 'cpp max-autotune-no-cudagraphs');
    await expect(editors(page).last()).toContainText('addmm_out(');
  });

  await test.step('and back again, to what is known', async () => {
    await choice(page, 'mode').selectOption('default');
    await shows(page, 'Right side', 'cpp');
    await toggle(page, 'cpp_wrapper').uncheck();
    await shows(page, 'Left side', 'python');
  });
});

/**
 * A side shows a variant, and its text.
 */
async function shows(page: Page, side: Side, variant: string): Promise<void> {
  await expect(picker(page, side, 'variant')).toHaveValue(variant);
  await expect(editor(page, variant)).toBeVisible();
}
