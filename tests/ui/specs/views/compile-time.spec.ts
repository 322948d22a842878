import * as fs from 'fs';
import {
  expectNames,
  expectText,
  openSample,
  picture
} from '../../helpers/views';
import { expect, test } from '../../helpers/test';

test('where the time of the first call went', async ({ page, tmpPath }) => {
  const view = await openSample(page, 'Compile time', 'Compile time', tmpPath);
  const tree = view.getByRole('tree', { name: 'Compile timeline' });
  const current = view.getByRole('treeitem');

  await test.step('figures', async () => {
    await expect(view).toContainText('3.00 s with cold caches');
    await expect(view).toContainText('C++ compiler: cold 1.80 s');
    const row = view.getByRole('row', { name: /C\+\+ build/ });
    await expect(row).toContainText('60 %');
    await expect(view.getByRole('row', { name: /FX graph/ })).toHaveCount(2);
  });

  await test.step('bars are painted in the colors of their kinds', async () => {
    const colors = () =>
      tree.locator('canvas').evaluate(node => {
        const canvas = node as HTMLCanvasElement;
        const { width, height } = canvas;
        if (width === 0 || height === 0) {
          return 0;
        }
        const { data } = canvas
          .getContext('2d')!
          .getImageData(0, 0, width, height);
        const seen = new Set<string>();
        for (let i = 0; i < data.length; i += 4 * 7) {
          seen.add(data.slice(i, i + 3).join());
        }
        return seen.size;
      });
    // It is painted in a frame after it has its size.
    await expect.poll(colors).toBeGreaterThan(8);
  });

  await test.step('keys', async () => {
    await tree.focus();
    await expect(current).toContainText('entire_frame_compile');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await expect(current).toContainText('inductor_compile; lowering');
    await page.keyboard.press('ArrowUp');
    await expect(current).toContainText('entire_frame_compile');
    // Below it are its kernels: in the first call, and in a later one.
    await page.keyboard.press('ArrowRight');
    await expect(current).toContainText('fused_relu_0, compiled');
    await expect(current).toContainText('Starts at 200 ms');
    await picture(page, view, 'compile-time-kernels');
    for (let n = 0; n < 6; n++) {
      await page.keyboard.press('ArrowRight');
    }
    await expect(current).toContainText('fused_relu_0, later run');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect(current).toContainText('0/0, warm');
    await page.keyboard.press('0');
  });

  await test.step('pointer', async () => {
    const { width } = (await tree.boundingBox())!;
    // The first row of the first compilation, 40 ms of 2,430 after its start.
    const position = { x: (width * 40) / 2430, y: 22 + 20 + 9 };
    await tree.hover({ position });
    const tip = view.locator('.jp-Compilescope-timeTip');
    await expect(tip).toContainText('entire_frame_compile');
    await tree.click({ position });
    await expect(current).toContainText('0/0, cold');
    // One row down, 2 ms after a phase of 60: about a pixel away from it, and ever
    // more as the chart is zoomed around the pointer.
    await tree.hover({
      position: { x: (width * 72) / 2430, y: position.y + 18 }
    });
    await expect(tip).toContainText('bytecode_tracing');
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -1500);
    await page.keyboard.up('Control');
    await expect(tip).toHaveCount(0);
  });

  await test.step('one compilation, and the table', async () => {
    await view.getByRole('combobox', { name: 'Show' }).selectOption('one');
    await view.getByRole('checkbox', { name: 'As a table' }).check();
    const table = view.getByRole('grid', {
      name: 'Phases of the compilations'
    });
    await expect(
      table.getByRole('row', { name: /lower aten\.op_0/ })
    ).toBeVisible();
    await table.getByRole('button', { name: 'Duration' }).click();
    await expect(table.getByRole('row').nth(1)).toContainText('entire_frame');
    await expectText(page, view);
    await view.getByRole('checkbox', { name: 'As a table' }).uncheck();
  });

  await test.step('a trace for Perfetto', async () => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      view.getByRole('button', { name: /Chrome trace/ }).click()
    ]);
    expect(file.suggestedFilename()).toBe('compile-made-python.trace.json');
    const { traceEvents } = JSON.parse(
      fs.readFileSync(await file.path(), 'utf8')
    ) as { traceEvents: { ph: string; name: string; dur?: number }[] };
    const gxx = traceEvents.find(({ name }) => name === 'compile_file');
    expect(gxx).toMatchObject({ ph: 'X', dur: 1_500_000 });
  });

  await test.step('kernel by kernel', async () => {
    const part = view.getByRole('region', { name: 'Kernel by kernel' });
    const row = part.getByRole('row', { name: /^fused_relu_0/ });
    await expect(row).toContainText('in the background');
    await expect(row).toContainText('1.50 s');
    await expect(
      part.getByRole('row', { name: /at its first launch/ })
    ).toContainText('cached');
    await part.scrollIntoViewIfNeeded();
    await picture(page, part, 'loads');
  });

  await test.step('what settings change', async () => {
    const part = view.getByRole('region', {
      name: 'Effect of settings on the first call'
    });
    await expect(part).toContainText(
      'with cold caches precompiled headers kept (9.20 s, 12.3 s less)'
    );
    const row = part.getByRole('row', { name: /build_separate/ });
    await expect(row).toContainText('19.0 s−2.50 s');
    await expect(part.locator('.main-svg').first()).toBeVisible();
    await part.scrollIntoViewIfNeeded();
    await picture(page, part, 'cold');
  });

  await expectNames(view);
  await view.getByRole('combobox', { name: 'Show' }).selectOption('all');
  await picture(page, view, 'compile-time');
});
