import { type Locator, type Page } from '@playwright/test';
import * as path from 'path';
import {
  choice,
  editor,
  openCode,
  openSidebar,
  sidebar,
  toggle,
  variants
} from '../../helpers/compilescope';
import {
  cell,
  openNotebook,
  runAll,
  start,
  waitForKernel
} from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import { expect, test } from '../../helpers/test';

const BENCHMARKS = path.resolve(__dirname, '../../../../benchmarks');

/**
 * A language model of four layers, narrow: the sizes of its matrices cost its
 * calls, and no code generation; a layer takes half a second of that.
 */
const MODEL = [
  '%load_ext compilescope',
  [
    'import sys',
    `sys.path.append(${JSON.stringify(BENCHMARKS)})`,
    'import torch',
    'from real_subjects import gpt',
    '',
    'model, (tokens,) = gpt(32)(False, 4)',
    'double = torch.compile(lambda x: 2 * x, backend="eager")',
    'double(torch.ones(3))'
  ].join('\n'),
  '%%compile --no-run --variants python\nmodel(tokens)'
];

/**
 * A cell that computes until a variant is in the report: it can only end when
 * its code is generated while it runs.
 */
function computing(variant: string): string {
  return [
    'import time',
    'from compilescope.session.session import get_session',
    '',
    'inspection = list(get_session().inspections.values())[-1]',
    'calls = 0',
    `while not any(v.name == "${variant}" for v in inspection.report.variants):`,
    '    model(tokens), double(torch.ones(3))',
    '    calls += 1',
    '    time.sleep(0.1)',
    'print(calls > 0)'
  ].join('\n');
}

function output(page: Page, index: number): Locator {
  return cell(page, index).locator('.jp-OutputArea-output');
}

test.afterAll(({ request }) => shutDown(request));

test('switches of a language model are flipped while cells run', async ({
  page
}) => {
  const mode = 'reduce-overhead';
  const dynamic = 'python dynamic';
  const cells = [...MODEL, computing(mode), computing(dynamic)];
  await openNotebook(page, SHARED, 'models.ipynb', cells);
  await openSidebar(page);
  await runAll(page, MODEL.length);
  await openCode(page);

  await test.step('the other wrapper is there already', async () => {
    await start(page, 3);
    await toggle(page, 'cpp_wrapper').check();
    await expect(editor(page, 'cpp', 'C\\+\\+ wrapper')).toContainText(
      'cpp_wrapper/cpu.h'
    );
    await toggle(page, 'cpp_wrapper').uncheck();
  });

  await test.step('a mode is generated while the cell computes', async () => {
    await choice(page, 'mode').selectOption(mode);
    await expect(output(page, 3)).toHaveText('True');
    await expect(variants(page).filter({ hasText: mode })).toHaveCount(1);
    await choice(page, 'mode').selectOption('default');
  });

  await test.step('so is dynamic, which another process captures', async () => {
    await start(page, 4);
    await sidebar(page).getByText('on', { exact: true }).click();
    await expect(output(page, 4)).toHaveText('True');
    await expect(editor(page, dynamic)).toContainText('# AOT ID');
    await waitForKernel(page);
  });
});
