import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator, Page } from '@playwright/test';
import {
  choice,
  clickLine,
  editor,
  marked,
  openSidebar,
  picker,
  sidebar,
  variants
} from '../../helpers/compilescope';
import {
  cell,
  openNotebook,
  runAll,
  start,
  SUBJECT
} from '../../helpers/notebook';
import { PICTURES, takeDarkPicture, takePicture } from '../../helpers/pictures';
import { openReport, openView } from '../../helpers/report';
import { SHARED, shutDown } from '../../helpers/shared';
import { expectNames, openView as openOf, overflow } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

const KERNEL = 'triton_per_fused__softmax_add_gelu_prepare_softmax_online_0';

const CELLS = [
  ...SUBJECT.slice(0, 2),
  '%%compile --no-run --variants python --target h100\nattend(x, y)',
  '%%compile --no-run --variants python --target h100,mi300x\nattend(x, y)'
];

test.afterAll(({ request }) => shutDown(request));

test('a report for devices that are not there', async ({ page, tmpPath }) => {
  const panel = await openReport(page, 'targets', tmpPath);

  await test.step('kernels: estimates, resources, checks', async () => {
    const view = await openView(panel, 'Kernels');
    const table = view.getByRole('grid', { name: 'Kernels' });
    for (const name of ['est. time', 'regs', 'occupancy', 'check']) {
      await expect(
        table.getByRole('columnheader', { name, exact: true })
      ).toBeVisible();
    }
    const row = table.getByRole('row').filter({ hasText: KERNEL });
    await expect(row).toContainText('agrees');
    await row.click();
    const details = view.getByRole('region', { name: `Kernel ${KERNEL}` });
    await expect(details).toContainText('Compiled for H100 SXM');
    await expect(details.getByRole('row')).toHaveCount(5);
    await expectNames(view);
    await shoot(page, 'targets-kernels');
  });

  await test.step('from a configuration to its assembly', async () => {
    await panel
      .getByRole('button', {
        name: 'Open the SASS of XBLOCK=1, num_warps=2, num_stages=1'
      })
      .click();
    const sass = editor(page, 'python on h100', 'SASS');
    await expect(sass).toContainText('S2R R0, SR_CTAID.X');
    const source = editor(page, 'python on h100', KERNEL + '(?!:)');
    await clickLine(source, 'tmp0 = tl.load');
    await expect(marked(sass, 'LDG.E').first()).toBeVisible();
    await clickLine(sass, 'SR_CTAID.X');
    await expect(marked(source, 'tl.program_id(0)')).toBeVisible();
    await shoot(page, 'targets-sass');
  });

  await test.step('another form, another configuration', async () => {
    await form(page, 'Right side').selectOption({ label: 'PTX' });
    const ptx = editor(page, 'python on h100', 'PTX');
    await expect(ptx).toContainText('.target sm_90a');
    await page
      .getByRole('combobox', { name: 'Right side: launch configuration' })
      .selectOption('XBLOCK=8, num_warps=2, num_stages=1');
    await expect(editor(page, 'python on h100', 'PTX, XBLOCK=8')).toContainText(
      '.target sm_90a'
    );
  });

  await test.step('two targets side by side', async () => {
    await picker(page, 'Right side', 'variant').selectOption(
      'python on mi300x'
    );
    // The other vendor has no PTX; its machine code stands in.
    await expect(editor(page, 'python on mi300x', 'AMDGCN')).toContainText(
      'gfx942'
    );
    await shoot(page, 'targets-vendors');
    await form(page, 'Left side').selectOption({ label: 'Triton GPU IR' });
    await form(page, 'Right side').selectOption({ label: 'Triton GPU IR' });
    await expect(page.getByText(/^\d+ changes$/)).toBeVisible();
    await shoot(page, 'targets-diff');
  });

  await test.step('what was decided without the device', async () => {
    await picker(page, 'Left side', 'artifact').selectOption('python');
    const mark = page.locator('.jp-Compilescope-code-decision:visible');
    await expect(mark.first()).toHaveAttribute(
      'title',
      /scaled_dot_product_attention: cuDNN/
    );
    await mark.first().click();
    await expect(page.getByText('By heuristic').first()).toBeVisible();
    await shoot(page, 'targets-decision');
    const view = await openView(panel, 'Settings');
    await expect(view).toContainText('Target devices');
    await expect(view).toContainText('cuDNN');
    await expectNames(view);
    await shoot(page, 'targets-requested');
    await view
      .getByRole('button', { name: /Python wrapper, line \d+/ })
      .first()
      .click();
    await expect(editor(page, 'python on h100', 'Python')).toBeVisible();
  });

  await test.step('estimates stand apart from times', async () => {
    await expect(panel.getByRole('tab', { name: 'Targets' })).toBeVisible();
    const view = await openView(panel, 'Targets');
    await expect(
      view.getByRole('row', { name: /python on mi300x Instinct MI300X/ })
    ).toContainText('≥');
    await expectNames(view);
    await shoot(page, 'targets-targets');
  });
});

test('a cell for a target, and the switch', async ({ page }) => {
  const notebook = `${SHARED}/targets.ipynb`;
  await openNotebook(page, SHARED, 'targets.ipynb', CELLS);
  await openSidebar(page);
  await runAll(page, 2);
  // The target's process starts with it.
  await start(page, 2);
  const target = choice(page, 'target');

  await test.step('the switches show the cell’s target', async () => {
    await expect(target).toHaveValue('h100');
    await expect(sidebar(page)).toContainText('Nothing runs on it');
    await expect(target.locator('optgroup[label=AMD]')).toHaveCount(1);
    await expect(variants(page).filter({ hasText: 'h100' })).toContainText('≥');
    await page.getByRole('tab', { name: 'Code', exact: true }).click();
    await expect(editor(page, 'python on h100', 'Python')).toContainText(
      'triton'
    );
  });

  await test.step('its kernels are compiled and checked on demand', async () => {
    const view = await openOf(page, 'kernels', 'Kernels', notebook);
    await view.getByRole('button', { name: 'Compile for H100 SXM' }).click();
    const row = view.getByRole('row').filter({ hasText: 'triton' }).first();
    await row.click();
    await expect(
      view.getByRole('button', { name: /^Open the SASS of/ }).first()
    ).toBeVisible();
    await view
      .getByRole('button', { name: 'Check without the device' })
      .click();
    await expect(row).toContainText('agrees');
    await shoot(page, 'targets-live');
  });

  await test.step('another target by the switch', async () => {
    await target.selectOption('mi300x');
    const row = variants(page).filter({ hasText: 'Instinct MI300X' });
    await expect(row).toContainText('≥');
    await target.selectOption('');
    await expect(sidebar(page)).not.toContainText('Nothing runs on it');
    // What the arguments' own device gets is generated too.
    await expect(
      variants(page).filter({ hasText: /python\s*·\s*sources only/ })
    ).toHaveCount(1);
  });

  await test.step('two targets of one cell stand side by side', async () => {
    await page.getByRole('tab', { name: 'Code', exact: true }).click();
    await start(page, 3);
    await expect(cell(page, 3)).toContainText('Instinct MI300X');
    await expect(editor(page, 'python on h100', 'Python')).toBeVisible();
    await picker(page, 'Right side', 'variant').selectOption(
      'python on mi300x'
    );
    await expect(editor(page, 'python on mi300x', 'Python')).toBeVisible();
    await shoot(page, 'targets-cell');
  });

  await test.step('the sidebar, narrow and not so narrow', async () => {
    const button = sidebar(page).getByRole('button', {
      name: 'Build and time'
    });
    for (const width of [260, 420]) {
      await resizeSidebar(page, width);
      // What does not fit takes another line; nothing is cut off.
      await expect.poll(() => overflow(button)).toBe(0);
      await takePicture(sidebar(page), `targets-sidebar-${width}-light`);
    }
    await takeDarkPicture(page, sidebar(page), 'targets-sidebar-420-dark');
  });
});

/**
 * Give the sidebar a width, in pixels.
 */
async function resizeSidebar(page: Page, width: number): Promise<void> {
  const handle = page.locator('#jp-main-split-panel > .lm-SplitPanel-handle');
  // It waits until the handle stays at its place.
  await handle.filter({ visible: true }).last().hover();
  const edge = await sidebar(page).boundingBox();
  const y = edge!.y + edge!.height / 2;
  await page.mouse.down();
  await page.mouse.move(edge!.x + edge!.width - width, y, { steps: 4 });
  await page.mouse.up();
  await expect
    .poll(async () => (await sidebar(page).boundingBox())!.width)
    .toBeLessThan(width + 20);
}

function form(page: Page, side: string): Locator {
  return page.getByRole('combobox', { name: `${side}: form of the kernel` });
}

/**
 * Pictures to look at: light and dark, wide and narrow.
 */
async function shoot(
  page: IJupyterLabPageFixture,
  name: string
): Promise<void> {
  if (!PICTURES) {
    return;
  }
  await takeDarkPicture(page, page, `${name}-dark`);
  await takePicture(page, `${name}-light`);
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 900, height: 900 });
  await takePicture(page, `${name}-narrow`);
  await page.setViewportSize(size);
}
