import * as fs from 'fs';
import * as path from 'path';
import { editor } from '../../helpers/compilescope';
import { takeDarkPicture, takePicture } from '../../helpers/pictures';
import { openReport, openView } from '../../helpers/report';
import { expectNames, overflow } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

const REPORT = path.resolve(
  __dirname,
  '../../../data/reports/training.compilescope.json'
);

/**
 * As much of a report as steps are put into.
 */
interface ICode {
  direction: string;
  regions: Record<string, IRegion[] | undefined>;
  backward: ICode | null;
}

interface IRegion {
  kind: string;
  start: number;
  end: number;
  key: string;
  label: string;
  kernel: string | null;
  sources: object[];
}

interface IReport {
  contents?: object;
  variants: {
    studied?: string[];
    compilations: { code: ICode; steps: object[] }[];
  }[];
}

const KINDS: Record<string, string> = {
  alloc: 'allocation',
  free: 'free',
  guard: 'check',
  launch: 'launch',
  return: 'return'
};

/**
 * Real code of a step of training. Its steps are as many as it has regions, with
 * times for the forward.
 */
function withSteps(): string {
  const report = JSON.parse(fs.readFileSync(REPORT, 'utf8')) as IReport;
  delete report.contents; // the server works it out from what is put in here
  report.variants.forEach((variant, place) => {
    variant.studied = ['steps'];
    for (const compilation of variant.compilations) {
      const codes = [compilation.code, compilation.code.backward];
      compilation.steps = codes.flatMap(code =>
        ['python', 'cpp'].flatMap(artifact =>
          code?.regions[artifact] ? [stepsOf(code, artifact, place + 1)] : []
        )
      );
    }
  });
  return JSON.stringify(report);
}

function stepsOf(code: ICode, artifact: string, factor: number): object {
  const isTimed = code.direction === 'forward';
  const steps = code.regions[artifact]!.filter(({ kind }) => kind in KINDS).map(
    ({ kind, start, end, key, label, kernel, sources }, place) => {
      const us = (kind === 'launch' ? 12 : 1 + (place % 3)) / factor;
      return {
        kind: KINDS[kind],
        start,
        end,
        key,
        label,
        kernel: kernel ?? '',
        sources,
        us: isTimed ? us : null,
        interval_us: isTimed ? [us * 0.9, us * 1.1] : null,
        how: 'The clock is read before each step.'
      };
    }
  );
  const sum = steps.reduce((total, { us }) => total + (us ?? 0), 0);
  return {
    artifact,
    direction: code.direction,
    steps,
    whole_us: isTimed ? sum * 1.02 : null,
    sum_us: isTimed ? sum : null
  };
}

test('what both wrappers do, step by step', async ({ page, tmpPath }) => {
  const file = test.info().outputPath('steps.compilescope.json');
  fs.writeFileSync(file, withSteps());
  const panel = await openReport(page, file, tmpPath);
  await openView(panel, 'Wrappers');
  const view = page.getByRole('region', { name: 'Wrappers', exact: true });
  const table = view.getByRole('grid', { name: 'Steps of the wrappers' });
  const rows = table.getByRole('row');
  const sums = view.getByText(/^sum .* of /);

  await test.step('by kind, and their sums', async () => {
    const figures = view.getByRole('table');
    const launches = figures.getByRole('row', { name: /^kernel launch/ });
    await expect(launches).toContainText('µs');
    await expect(
      figures.getByRole('row', { name: /^whole call, not instrumented/ })
    ).toBeVisible();
    await expect(sums).toHaveCount(2);
  });

  const launch = rows.filter({ hasText: 'kernel launch' }).first();
  const lines = launch.getByRole('button', { name: /^\d/ });

  await test.step('both wrappers in one row', async () => {
    await expect(launch).toContainText('12.0 µs');
    await expect(launch).toContainText('6.00 µs');
    await expect(lines).toHaveCount(2);
  });

  await expectNames(view);
  await test.step('light, dark and narrow', async () => {
    await takePicture(page, 'wrappers-light');
    await takeDarkPicture(page, page, 'wrappers-dark');
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 460, height: 900 });
    await expect
      .poll(() => view.evaluate(node => node.clientWidth))
      .toBeLessThan(460);
    await takePicture(page, 'wrappers-narrow');
    await expect.poll(() => overflow(table)).toBe(0);
    await page.setViewportSize(size);
  });

  await test.step('the backward, which was not measured', async () => {
    const graph = view.getByRole('combobox', { name: 'Graph' });
    await graph.selectOption({ label: 'backward' });
    await expect(sums).toHaveCount(0);
    await expect(lines).toHaveCount(2);
  });

  await test.step('from a step to its line', async () => {
    await lines.last().click();
    await expect(
      editor(page, 'cpp', 'C\\+\\+ wrapper, backward')
    ).toBeVisible();
  });

  await test.step('what each step costs, beside its lines', async () => {
    await openView(panel, 'Wrappers');
    await view
      .getByRole('combobox', { name: 'Graph' })
      .selectOption({ label: 'forward' });
    await lines.last().click();
    const code = page.locator('.jp-Compilescope-code:visible');
    const costs = code.locator('.jp-Compilescope-code-cost.jp-mod-first');
    await expect(costs.filter({ hasText: '6.00 µs' }).first()).toBeVisible();
    await expect(
      code.getByRole('list', { name: 'Cost by kind of step' })
    ).toContainText('kernel launch');
    await expect(code).toContainText(
      'Host time of the step “kernel launch”: 12.0 µs left, 6.00 µs right'
    );
    await takePicture(page, 'code-costs-light');
    await takeDarkPicture(page, page, 'code-costs-dark');
    await page.setViewportSize({ width: 460, height: 900 });
    const legend = code.getByRole('button', { name: /^Steps of a call/ });
    await expect(legend).toHaveAttribute('aria-expanded', 'false');
    await takePicture(page, 'code-costs-narrow');
  });

  await test.step('a text diff has their columns where there is room', async () => {
    await page.setViewportSize({ width: 1920, height: 900 });
    const code = page.locator('.jp-Compilescope-code:visible');
    await code.getByRole('button', { name: 'Diff', exact: true }).click();
    const columns = code.locator(
      '.jp-Compilescope-code-diff .jp-Compilescope-code-costs'
    );
    await expect(columns.first()).toBeVisible();
    await page.setViewportSize({ width: 1000, height: 900 });
    await expect(columns.first()).toBeHidden();
  });
});
