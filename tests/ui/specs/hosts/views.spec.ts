import { takePicture } from '../../helpers/pictures';
import { expect, test } from '../../helpers/test';
import type { Locator, Page } from '@playwright/test';
import * as fs from 'fs';
import * as path from 'path';
import { editors, openSidebar, sidebar } from '../../helpers/compilescope';
import {
  IN_THE_BAR,
  openReport,
  openStored,
  openView,
  tabs,
  UNDER_MORE
} from '../../helpers/report';

const REPORTS = path.resolve(__dirname, '../../../data/reports');

test('a report’s file opens with all views', async ({ page, tmpPath }) => {
  const panel = await openReport(page, 'training', tmpPath);
  await expect(tabs(panel).first()).toHaveAttribute('aria-selected', 'true');
  const names = (await tabs(panel).allTextContents()).map(each =>
    each.replace(/\d.*$/, '')
  );
  expect(names).toEqual(IN_THE_BAR);
  await panel.getByRole('button', { name: 'More views' }).click();
  const opened = page.locator('.lm-Menu');
  await expect(opened).toBeFocused();
  const more = (await opened.locator('.lm-Menu-itemLabel').allTextContents())
    .filter(each => each && !each.startsWith('Open '))
    .map(each => each.replace(/…|\s\(.*$/g, ''));
  expect(more).toEqual(UNDER_MORE);
  await page.keyboard.press('Escape');
  await expect(opened).toHaveCount(0);

  await test.step('each view opens, and says no error', async () => {
    for (const name of [...IN_THE_BAR, ...UNDER_MORE]) {
      const place = await openView(panel, name);
      await expect(place).not.toContainText('Loading…');
      await expect(place.getByRole('alert')).toHaveCount(0);
      await expect(place).toHaveText(/\S/);
    }
  });

  await test.step('by key: arrows walk, Enter opens, one tab stop', async () => {
    await openView(panel, 'Overview');
    await tabs(panel).first().focus();
    await page.keyboard.press('ArrowRight');
    await expect(tabs(panel).nth(1)).toBeFocused();
    await expect(tabs(panel).first()).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('Enter');
    await expect(tabs(panel).nth(1)).toHaveAttribute('aria-selected', 'true');
    const stops = tabs(panel).and(page.locator('[tabindex="0"]'));
    await expect(stops).toHaveCount(1);
  });

  await test.step('the sidebar shows it, without switches', async () => {
    await openSidebar(page);
    await expect(sidebar(page)).toContainText('From a file');
    await expect(
      sidebar(page).getByRole('button', { name: 'Build and time' })
    ).toHaveCount(0);
  });
});

test('what is selected in one view is marked in another', async ({
  page,
  tmpPath
}) => {
  const panel = await openReport(page, 'training', tmpPath);
  const kernels = await openView(panel, 'Kernels');
  const row = kernels.getByRole('row').filter({ hasText: 'cpp_fused_relu_0' });
  await row.first().click();
  await openView(panel, 'Code');
  await expect(editors(page)).toHaveCount(2);
  for (const editor of await editors(page).all()) {
    await expect(
      editor.locator('.jp-Compilescope-code-strong').first()
    ).toBeInViewport();
    await expect(
      editor
        .locator('.jp-Compilescope-code-strong')
        .filter({ hasText: /cpp_fused_relu_0\(/ })
        .first()
    ).toBeVisible();
  }
});

for (const theme of ['light', 'dark'] as const) {
  test(`how it looks, ${theme}`, async ({ page, tmpPath }) => {
    await (theme === 'dark'
      ? page.theme.setDarkTheme()
      : page.theme.setLightTheme());
    for (const width of [1920, 1280, 900, 420]) {
      await page.setViewportSize({ width, height: 900 });
      const panel = await openReport(page, 'breaks', tmpPath);
      await openView(panel, 'Code');
      await expect(editors(page).first()).toBeVisible();
      // Pickers and the open tab stay in sight, however narrow.
      const toolbar = page.locator('.jp-Compilescope-main:visible .jp-Toolbar');
      await expect(
        toolbar.getByRole('combobox', { name: 'Compilation' })
      ).toBeInViewport();
      await expect(
        tabs(panel).and(page.locator('[aria-selected=true]'))
      ).toBeInViewport();
      await takePicture(page, `views-${theme}-${width}`);
    }
  });
}

test('all tabs are in sight at any width, and the rest in a menu', async ({
  page,
  tmpPath
}) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const panel = await openReport(page, 'breaks', tmpPath);
  await expect(tabs(panel)).toHaveCount(IN_THE_BAR.length);
  for (const width of [1280, 680, 420]) {
    await page.setViewportSize({ width, height: 800 });
    for (const tab of await tabs(panel).all()) {
      await expect(tab).toBeInViewport({ ratio: 0.95 });
    }
    const places = () =>
      tabs(panel).evaluateAll(all =>
        all.map(each => each.getBoundingClientRect().toJSON() as DOMRect)
      );
    const isOneLine = async () =>
      new Set((await places()).map(each => each.top)).size === 1;
    // Beside JupyterLab's bars, the second is half of a screen of 1280.
    await expect.poll(isOneLine).toBe(width >= 680);
    // Opening one moves no other. Counts come with the report, the layout with a frame.
    let before = await places();
    await expect
      .poll(async () => {
        const last = JSON.stringify(before);
        before = await places();
        return JSON.stringify(before) === last;
      })
      .toBe(true);
    await openView(panel, 'Recompiles & breaks');
    await expect.poll(places).toEqual(before);
    await openView(panel, 'Overview');
  }
  const more = panel.getByRole('button', { name: 'More views' });
  await more.focus();
  await page.keyboard.press('Enter');
  const menu = page.locator('.lm-Menu');
  // It takes the keys a moment after it is there.
  await expect(menu).toBeFocused();
  await takePicture(page, 'views-menu');
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
  await expect(more).toBeFocused();
  await more.click();
  await page.getByRole('menuitem', { name: /^Autotune/ }).click();
  const tab = tabs(panel).filter({ hasText: 'Autotune' });
  await expect(tab).toHaveAttribute('aria-selected', 'true');
  await expect(tab).toBeInViewport({ ratio: 0.95 });
});

/**
 * Give a panel a width, whatever JupyterLab has around it.
 */
async function setWidth(
  page: Page,
  panel: Locator,
  width: number,
  height: number
): Promise<void> {
  // It takes its share of the page some frames after it is there.
  await expect
    .poll(async () => {
      const { inner, own } = await panel.evaluate(node => ({
        inner: window.innerWidth,
        own: node.clientWidth
      }));
      if (own !== width) {
        await page.setViewportSize({ width: width + inner - own, height });
      }
      return own;
    })
    .toBe(width);
}

test('ten tabs stand in one line beside a notebook', async ({
  page,
  tmpPath
}) => {
  const panel = await openReport(page, 'targets', tmpPath);
  await expect(tabs(panel)).toHaveCount(IN_THE_BAR.length + 1);
  // Of screens of 1280 and 1920.
  for (const width of [549, 876]) {
    await setWidth(page, panel, width, 800);
    for (const name of ['Overview', 'Targets']) {
      await openView(panel, name);
      const tops = () =>
        tabs(panel).evaluateAll(all => [
          ...new Set(all.map(each => each.getBoundingClientRect().top))
        ]);
      await expect.poll(tops).toHaveLength(1);
    }
  }
});

test('the Overview fits 900 × 700', async ({ page, tmpPath }) => {
  // Ordinary ones: up to three variants. With as many suggestions as there can
  // be, whose reasons are shown in full, the last one may be cut off.
  for (const [name, most] of [
    ['mlp', 700],
    ['training', 700],
    ['recompiles', 700],
    ['targets', 700],
    ['breaks', 780]
  ] as const) {
    const panel = await openReport(page, name, tmpPath);
    const overview = await openView(panel, 'Overview');
    // Higher than the view, so that no scroll bar takes a part of its width.
    await setWidth(page, panel, 900, 1000);
    const height = () =>
      overview
        .locator('.jp-Compilescope-overviewBody')
        .evaluate(node => node.scrollHeight);
    await expect.poll(height, { message: name }).toBeLessThanOrEqual(most);
    await takePicture(page, `overview-900-${name}`);
  }
});

test('a file that is no report says so', async ({ page, tmpPath }) => {
  const text = fs.readFileSync(
    path.join(REPORTS, 'training.compilescope.json'),
    'utf8'
  );
  const cases: [string, string, RegExp][] = [
    ['cut.compilescope.json', text.slice(0, -500), /was cut off/],
    ['other.compilescope.json', '{"a": 1}', /not a report/],
    ['later.compilescope.json', '{"schema_version": 99}', /later compilescope/]
  ];
  for (const [name, content, message] of cases) {
    const file = `${tmpPath}/${name}`;
    await page.contents.uploadContent(content, 'text', file);
    const panel = await openStored(page, file);
    await expect(panel.getByRole('alert')).toContainText(message);
    await expect(panel.getByRole('tab')).toHaveCount(0);
  }

  await test.step('one of an earlier version is completed by the server', async () => {
    const report = JSON.parse(text) as Record<string, unknown>;
    delete report.overview;
    delete report.contents;
    const file = `${tmpPath}/earlier.compilescope.json`;
    await page.contents.uploadContent(JSON.stringify(report), 'text', file);
    const panel = await openStored(page, file);
    const overview = panel.getByRole('region', { name: 'Overview' });
    await expect(overview.getByRole('table').first()).toContainText('eager');
    await expect(overview).not.toContainText('no overview');
  });
});

test('a report of ten thousand nodes and twenty thousand lines opens', async ({
  page,
  tmpPath
}) => {
  const file = `${tmpPath}/large.compilescope.json`;
  // The views' own code is there from before.
  await openView(await openReport(page, 'training', tmpPath), 'Code');
  await expect(editors(page)).toHaveCount(2);
  await page.contents.uploadContent(large(), 'text', file);
  const panel = await openStored(page, file);
  await openView(panel, 'Code');
  await expect(panel.locator('.cm-line').first()).toBeVisible();
});

/**
 * A report as a large model has it, made from a small one.
 */
function large(): string {
  const report = JSON.parse(
    fs.readFileSync(path.join(REPORTS, 'mlp.compilescope.json'), 'utf8')
  );
  delete report.contents; // the server works it out from what is put in here
  for (const { compilations } of report.variants) {
    for (const compilation of compilations) {
      const { graphs, code } = compilation;
      for (const stage of Object.keys(graphs)) {
        if (stage !== 'dynamo' && stage !== 'post_grad') {
          delete graphs[stage];
        } else if (!graphs[stage].same_as) {
          // A file has equal graphs once.
          const node = graphs[stage].nodes.at(-2);
          graphs[stage].nodes = Array.from({ length: 10_000 }, (_, index) => ({
            ...node,
            name: `node_${index}`,
            inputs: index ? [`node_${index - 1}`] : [],
            users: index < 9999 ? [`node_${index + 1}`] : []
          }));
        }
      }
      for (const name of ['python', 'cpp'] as const) {
        if (code[name]) {
          const lines = Array.from(
            { length: 20_000 },
            (_, index) => `    buf${index} = empty_strided((32, 64), (64, 1))`
          );
          code[name] = `${lines.join('\n')}\n`;
          code.regions[name] = [];
        }
      }
    }
  }
  return JSON.stringify(report);
}
