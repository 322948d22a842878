import { openNotebook, runAll } from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import { expectNames, openView, picture } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

/**
 * Products with something between them: their buffers take over memory.
 */
const CELLS = [
  '%load_ext compilescope',
  [
    'import torch, compilescope as cs',
    '',
    'def chain(x):',
    '    a = x.sin() @ x',
    '    b = a.cos() @ x',
    '    return torch.nn.functional.gelu(b)',
    '',
    'report = cs.inspect(chain, (torch.randn(64, 64),), run=False)'
  ].join('\n')
];

test.afterAll(({ request }) => shutDown(request));

test('what memory is used for, and what Inductor planned', async ({ page }) => {
  const notebook = `${SHARED}/memory.ipynb`;
  await openNotebook(page, SHARED, 'memory.ipynb', CELLS);
  await runAll(page, CELLS.length);
  const view = await openView(page, 'memory', 'Memory', notebook);
  const rows = view.getByRole('grid', { name: 'Buffers' }).getByRole('row');

  await test.step('buffers that take over memory', async () => {
    await expect(view.getByText('Without reuse')).toBeVisible();
    await expect(rows.filter({ hasText: 'buf2' })).toContainText('buf1');
    await expect(view.getByRole('img', { name: /^Live bytes/ })).toBeVisible();
    await expect(view.locator('.main-svg').first()).toBeVisible();
  });

  await expectNames(view);
  await picture(page, view, 'memory');

  await test.step('the plan of a kernel', async () => {
    const kernels = await openView(page, 'kernels', 'Kernels', notebook);
    await kernels.getByRole('row', { name: /fused_gelu/ }).click();
    const details = kernels.getByRole('region', { name: /^Kernel / });
    await expect(details.getByText('Specialized sizes')).toBeVisible();
    await expect(details.getByText(/operators, pointwise/)).toBeVisible();
    await picture(page, kernels, 'kernel-plan');
  });

  await test.step('which operator became which', async () => {
    const graph = await openView(page, 'graph', 'Graph', notebook);
    await graph.getByRole('button', { name: 'Decompositions' }).click();
    const list = graph.getByRole('complementary', { name: 'Decompositions' });
    await list.getByText('aten.gelu').first().click();
    await list.getByRole('button', { name: 'erf' }).click();
    await expect(graph.getByRole('region', { name: 'Details' })).toContainText(
      'erf'
    );
    await picture(page, graph, 'decompositions');
  });
});
