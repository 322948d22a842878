import { editor } from '../../helpers/compilescope';
import { openNotebook, runAll } from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import { expectNames, openView, picture } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

/**
 * A call whose sizes may change, with a weight of its own.
 */
const CELLS = [
  '%load_ext compilescope',
  [
    'import torch, compilescope as cs',
    '',
    'layer = torch.nn.Linear(16, 8).eval()',
    '',
    'def score(x):',
    '    return torch.relu(layer(x)) + 1',
    '',
    'report = cs.inspect(',
    '    score,',
    '    (torch.randn(4, 16),),',
    '    variants={"cpp": cs.Variant(cpp_wrapper=True, dynamic=True)},',
    '    run=False,',
    ')'
  ].join('\n')
];

test.afterAll(({ request }) => shutDown(request));

test('a call ahead of time, opened up', async ({ page }) => {
  await openNotebook(page, SHARED, 'package.ipynb', CELLS);
  await runAll(page, CELLS.length);
  const view = await openView(
    page,
    'package',
    'Ahead of time',
    `${SHARED}/package.ipynb`
  );

  await test.step('its sources, when they are asked for', async () => {
    await expect(view).toContainText('Nothing was compiled ahead of time');
    await view.getByRole('button', { name: 'Generate the sources' }).click();
    await expect(view).toContainText('Sources, not built');
    await expect(view).toContainText(/x: float32\[s\d+, 16\] cpu/);
    await expect(view).toContainText('at least 2');
    await expect(view.getByRole('table', { name: /tensors/ })).toContainText(
      'layer.weight'
    );
  });

  await test.step('a file of it', async () => {
    await view.getByRole('button', { name: 'CMakeLists.txt' }).click();
    await expect(view.getByLabel(/CMakeLists/).last()).toContainText(
      'add_library'
    );
  });

  await expectNames(view);
  await picture(page, view, 'package');

  await test.step('its code beside the wrapper', async () => {
    await view.getByRole('button', { name: 'Show its C++' }).click();
    await expect(editor(page, 'cpp', 'AOTInductor C')).toContainText(
      'AOTInductorModel::run_impl'
    );
    await expect(editor(page, 'cpp', 'C.. wrapper')).toBeVisible();
    await expect(page.getByText('2 launches matched')).toBeVisible();
  });
});
