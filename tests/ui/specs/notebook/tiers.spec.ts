import type { Locator, Page } from '@playwright/test';
import { pathToFileURL } from 'url';
import { openSidebar } from '../../helpers/compilescope';
import { openNotebook, run } from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import { expect, test } from '../../helpers/test';

test.afterAll(({ request }) => shutDown(request));

test('tiers are followed and pinned in the panel, and kept in a page', async ({
  page,
  context
}, info) => {
  const file = info.outputPath('tiers.html');
  const cells = [
    '%load_ext compilescope\nimport compilescope as cs, torch',
    [
      'model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).requires_grad_(False)',
      'compiled, x = cs.tiered(model), torch.randn(4, 8)',
      'with cs.watch() as report:',
      '    compiled(x)'
    ].join('\n'),
    // Calls are checked in the background; then both wrappers take turns.
    'while cs.tiers(compiled)[0].gain is None:\n    compiled(x)',
    `report.save(${JSON.stringify(file)});`
  ];
  await openNotebook(page, SHARED, 'tiers.ipynb', cells);
  const side = await openSidebar(page);
  const graph = graphs(side);
  const pin = graph.getByRole('switch', {
    name: 'Pin 0/0 inference to the Python wrapper'
  });
  await run(page, 0);
  await expect(graph).toHaveCount(0);

  await test.step('the Python wrapper serves at once', async () => {
    await run(page, 1);
    await expect(graph).toHaveCount(1);
    await expect(graph).toContainText('0/0 inference');
    await expect(graph).toContainText('served by the Python wrapper');
    await expect(graph).toContainText(/Python wrapper: compiled in .* s/);
    await expect(graph).toContainText(
      /C\+\+ wrapper: built in .* s, checked at the next call/
    );
  });

  await test.step('the next calls swap, and tell what that gained', async () => {
    await run(page, 2);
    await expect(graph).toContainText('served by the C++ wrapper');
    await expect(graph).toContainText(
      /C\+\+ wrapper: built in .* s, swapped in after .* s/
    );
    await expect(graph).toContainText(/[µm]s → .*[µm]s per call/);
  });

  await test.step('a switch keeps the Python wrapper, and ends that', async () => {
    await pin.click();
    await expect(pin).toBeChecked();
    await expect(graph).toContainText('served by the Python wrapper');
    await pin.click();
    await expect(pin).not.toBeChecked();
    await expect(graph).toContainText('served by the C++ wrapper');
    await pin.click();
    await expect(pin).toBeChecked();
    await expect(graph).toContainText('served by the Python wrapper');
  });

  await test.step('a saved page shows the same, and pins nothing', async () => {
    await run(page, 3);
    const texts = await graph.allInnerTexts();
    const saved: Page = await context.newPage();
    await saved.goto(pathToFileURL(file).href);
    const kept = graphs(saved.getByRole('complementary'));
    await expect(kept).toHaveCount(1);
    await expect(kept).toContainText('served by the Python wrapper');
    expect(await kept.allInnerTexts()).toEqual(texts);
    await expect(kept.getByRole('switch')).toBeChecked();
    await expect(kept.getByRole('switch')).toBeDisabled();
    await saved.close();
  });
});

/**
 * The graphs of the section Tiers.
 */
function graphs(side: Locator): Locator {
  return side.locator('.jp-Compilescope-tiers').getByRole('listitem');
}
