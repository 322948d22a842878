import type { Locator, Page } from '@playwright/test';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import { takePicture } from '../../helpers/pictures';
import { openReport, openView } from '../../helpers/report';
import { overflow } from '../../helpers/views';
import { expect, test } from '../../helpers/test';

const REPORTS = path.resolve(__dirname, '../../../data/reports');

/**
 * Where a node is on the screen, once it stays there: a graph is fitted anew in the
 * frames after its view has another size.
 */
async function placeOf(view: Locator, name: string): Promise<[number, number]> {
  const canvas = view.locator('.jp-Compilescope-graph-canvas').first();
  const place = await canvas.evaluate(async (node, name) => {
    const current = (): [number, number] | null => {
      const { camera, picture } = (node as unknown as IHost).compilescopeCanvas;
      const { scene } = picture!;
      const box = scene.box(scene.graph.at.get(name)!);
      const frame = node.getBoundingClientRect();
      return (
        box && [
          frame.x + (box.x + box.width / 2 - camera.x) * camera.scale,
          frame.y + (box.y + box.height / 2 - camera.y) * camera.scale
        ]
      );
    };
    const nextFrame = () => new Promise(done => requestAnimationFrame(done));
    let before = current();
    for (let unchanged = 0; unchanged < 3;) {
      await nextFrame();
      const now = current();
      unchanged = String(now) === String(before) ? unchanged + 1 : 0;
      before = now;
    }
    return before;
  }, name);
  if (!place) {
    throw new Error(`${name} cannot be seen`);
  }
  return place;
}

const SOON = { timeout: 3000 };

/**
 * Point at the graph until it is where it stays: on a busy machine its header or its
 * pane may take their size between the look at a node's place and the pointer.
 */
async function untilItStays(point: () => Promise<void>): Promise<void> {
  await expect(point).toPass({ timeout: 300_000 });
}

/**
 * Click a node.
 *
 * @param seen - What its details say.
 */
async function choose(view: Locator, name: string, seen: string) {
  await untilItStays(async () => {
    await view.page().mouse.click(...(await placeOf(view, name)));
    await expect(details(view)).toContainText(seen, SOON);
  });
}

/**
 * Wait until a graph is drawn.
 */
async function drawn(view: Locator, nodes: number): Promise<void> {
  const count = `${nodes.toLocaleString('en')} nodes`;
  await expect(view.getByText(count).first()).toBeVisible();
  await view
    .page()
    .waitForFunction(
      () =>
        !!(
          document.querySelector(
            '.jp-Compilescope-graph-canvas'
          ) as unknown as IHost | null
        )?.compilescopeCanvas?.picture
    );
}

interface IHost {
  compilescopeCanvas: {
    camera: { x: number; y: number; scale: number };
    frames: number[];
    pan(dx: number, dy: number): void;
    picture: {
      scene: {
        graph: { at: Map<string, number> };
        layout: { items: number[]; width: number; height: number };
        box(item: number): {
          x: number;
          y: number;
          width: number;
          height: number;
        } | null;
      };
    } | null;
  };
}

const details = (view: Locator) =>
  view.getByRole('region', { name: 'Details' });
const color = (view: Locator) => view.getByRole('combobox', { name: 'Color' });
const stage = (view: Locator) => view.getByRole('combobox', { name: 'Stage' });

for (const theme of ['light', 'dark'] as const) {
  test(`looks in the ${theme} theme`, async ({ page, tmpPath }) => {
    if (theme === 'dark') {
      await page.theme.setDarkTheme();
    } else {
      await page.theme.setLightTheme();
    }
    const view = await openView(
      await openReport(page, 'mlp', tmpPath),
      'Graph'
    );
    await drawn(view, 36);
    await choose(view, 'mul_1', 'layers.0.norm');
    await takePicture(page, `graph-${theme}`);
    await view.getByRole('button', { name: 'Two stages' }).click();
    await color(view).selectOption('change');
    await expect(stage(view)).toHaveCount(2);
    await expect(view.getByText('since “')).toBeVisible();
    await takePicture(page, `graph-two-${theme}`);
  });
}

test('lays out in a worker, which any base address serves', async ({
  page,
  tmpPath
}) => {
  const view = await openView(await openReport(page, 'mlp', tmpPath), 'Graph');
  await drawn(view, 36);
  await expect
    .poll(() => page.workers().some(each => /worker/.test(each.url())))
    .toBe(true);
  await expect(view.getByText('no worker')).toHaveCount(0);
});

test('a pointer shows a node, and selects it for the other views', async ({
  page,
  tmpPath
}) => {
  const panel = await openReport(page, 'mlp', tmpPath);
  const view = await openView(panel, 'Graph');
  await drawn(view, 36);
  const tip = view.getByRole('tooltip');
  await untilItStays(async () => {
    const [x, y] = await placeOf(view, 'var_mean');
    // A pointer that does not move is not asked what it is at.
    await page.mouse.move(x - 3, y);
    await page.mouse.move(x, y);
    await expect(tip).toContainText('torch.ops.aten.var_mean.correction', SOON);
  });
  await expect(tip).toContainText('layers.0.norm');
  await choose(view, 'var_mean', 'cpp_fused_native_layer_norm_0');
  const kernels = await openView(panel, 'Kernels');
  await expect(
    kernels.getByRole('row', { name: /cpp_fused_native_layer_norm_0/ }).first()
  ).toHaveClass(/jp-mod-(marked|active)/);
});

test('the keyboard walks along edges, and opens and closes groups', async ({
  page,
  tmpPath
}) => {
  const view = await openView(await openReport(page, 'mlp', tmpPath), 'Graph');
  await drawn(view, 36);
  const canvas = view.getByRole('application');
  await choose(view, 'rsqrt', 'rsqrt');
  await canvas.focus();
  await page.keyboard.press('ArrowDown');
  await expect(details(view).getByRole('heading')).toHaveText('mul');
  await page.keyboard.press('ArrowUp');
  await expect(details(view).getByRole('heading')).not.toHaveText('mul');
  await page.keyboard.press('Escape');
  await expect(details(view)).toHaveCount(0);

  await view.getByRole('button', { name: 'Outline' }).click();
  const tree = view.getByRole('tree');
  const norm = tree.getByRole('treeitem', { name: /^group norm/ });
  await expect(norm).toHaveAttribute('aria-expanded', 'true');
  await norm.click();
  await canvas.focus();
  await page.keyboard.press('Enter');
  await expect(norm).toHaveAttribute('aria-expanded', 'false');
  await expect(tree.getByRole('treeitem', { name: /^rsqrt/ })).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(norm).toHaveAttribute('aria-expanded', 'true');
  // All the facts are there to be heard.
  await expect(
    tree.getByRole('treeitem', { name: /^rsqrt, aten.rsqrt, 16×1 f32/ })
  ).toBeVisible();
});

test('a search opens what hides a hit', async ({ page, tmpPath }) => {
  const view = await openView(await openReport(page, 'mlp', tmpPath), 'Graph');
  await drawn(view, 36);
  await view.getByRole('button', { name: 'Collapse all groups' }).click();
  const field = view.getByRole('searchbox');
  await field.fill('addmm 16x128');
  await expect(view.getByText('1 match')).toBeVisible();
  await field.press('Enter');
  await expect(view.getByText('match 1 of 1')).toBeVisible();
  await expect(details(view).getByRole('heading')).toHaveText('addmm');
  await expect
    .poll(() => placeOf(view, 'addmm').catch(() => null))
    .not.toBeNull();
});

test('closes the groups of both stages, and brings all into sight', async ({
  page,
  tmpPath
}) => {
  const view = await openView(await openReport(page, 'mlp', tmpPath), 'Graph');
  await drawn(view, 36);
  await view.getByRole('button', { name: 'Two stages' }).click();
  await expect(stage(view)).toHaveCount(2);
  const inSight = () =>
    view.locator('.jp-Compilescope-graph-canvas').evaluateAll(nodes =>
      nodes.map(node => {
        const { camera, picture } = (node as unknown as IHost)
          .compilescopeCanvas;
        if (!picture) {
          return null;
        }
        const { items, width, height } = picture.scene.layout;
        const { x, y, scale } = camera;
        const isIn =
          x <= 0 &&
          y <= 0 &&
          (width - x) * scale <= node.clientWidth &&
          (height - y) * scale <= node.clientHeight;
        return { count: items.length, isIn: isIn && scale <= 1 };
      })
    );
  let open: Awaited<ReturnType<typeof inSight>> = [];
  await expect
    .poll(async () => {
      // While the stages are loaded there are no canvases.
      open = await inSight();
      return open.length === 2 && open.every(each => each?.isIn);
    })
    .toBe(true);
  await view.getByRole('button', { name: 'Collapse all groups' }).click();
  await expect
    .poll(async () => {
      const closed = await inSight();
      return (
        closed.length === 2 &&
        closed.every((each, i) => each?.isIn && each.count < open[i]!.count)
      );
    })
    .toBe(true);
});

test('saves what is laid out as SVG and PNG', async ({ page, tmpPath }) => {
  const view = await openView(await openReport(page, 'mlp', tmpPath), 'Graph');
  await drawn(view, 36);
  const save = async (kind: string) => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      view.getByRole('combobox', { name: 'Export' }).selectOption(kind)
    ]);
    return fs.readFileSync(await file.path());
  };
  const svg = (await save('svg')).toString('utf8');
  expect(svg).toContain('>var_mean</text>');
  expect(svg).toContain('cpp_fused_gelu_1');
  const png = await save('png');
  expect([...png.subarray(1, 4)]).toEqual([...Buffer.from('PNG')]);
});

test('fits a narrow panel', async ({ page, tmpPath }) => {
  await page.setViewportSize({ width: 430, height: 800 });
  const view = await openView(await openReport(page, 'mlp', tmpPath), 'Graph');
  await drawn(view, 36);
  await expect.poll(() => overflow(view)).toBe(0);
  await takePicture(page, 'graph-narrow');
});

test('10,000 nodes open at once, and each step of a pan is drawn', async ({
  page,
  tmpPath
}) => {
  const file = largeReport(10_000);
  const view = await openView(await openReport(page, file, tmpPath), 'Graph');
  await drawn(view, 10_000);
  await stage(view).selectOption('dynamo');
  await reopen(page, view);
  await view.getByRole('button', { name: 'Expand all groups' }).click();
  await expect
    .poll(() => placeOf(view, 'n_5000').catch(() => null))
    .not.toBeNull();
  const canvas = view.locator('.jp-Compilescope-graph-canvas');
  // How long a frame takes: benchmarks/graph.
  const { frames, moved } = await canvas.evaluate(async node => {
    const { compilescopeCanvas: own } = node as unknown as IHost;
    own.frames.length = 0;
    const { y: before, scale } = own.camera;
    for (let i = 0; i < 120; i++) {
      own.pan(0, -12);
      await new Promise(requestAnimationFrame);
    }
    return {
      frames: own.frames.length,
      moved: (own.camera.y - before) * scale
    };
  });
  expect(frames).toBeGreaterThanOrEqual(120);
  expect(moved).toBeCloseTo(1440);
});

/**
 * Turn to the other stage, until it is drawn.
 */
async function reopen(page: Page, view: Locator): Promise<void> {
  await drawn(view, 10_000);
  await stage(view).selectOption('post_grad');
  await page.waitForFunction(
    () =>
      document
        .querySelector('.jp-Compilescope-graph-pane')
        ?.getAttribute('aria-label') === 'After post-grad passes' &&
      !!(
        document.querySelector(
          '.jp-Compilescope-graph-canvas'
        ) as unknown as IHost | null
      )?.compilescopeCanvas?.picture
  );
}

/**
 * A report with graphs of layers, each a module of modules.
 */
function largeReport(count: number): string {
  const report = JSON.parse(
    fs.readFileSync(path.join(REPORTS, 'mlp.compilescope.json'), 'utf8')
  );
  delete report.contents; // the server works it out from what is put in here
  const [compilation] = report.variants[0].compilations;
  const [sample] = compilation.graphs.post_grad.nodes;
  const nodes = Array.from({ length: count }, (_, i) => ({
    ...sample,
    name: `n_${i}`,
    op: i === 0 ? 'placeholder' : 'call_function',
    target:
      i === 0
        ? 'L_x_'
        : `torch.ops.aten.${['mul', 'add', 'sum'][i % 3]}.Tensor`,
    inputs: [i - 1, i % 50 === 49 ? i - 48 : i - 2]
      .filter(each => each >= 0)
      .map(each => `n_${each}`),
    users: [i + 1, i + 2].filter(each => each < count).map(each => `n_${each}`),
    module:
      i === 0
        ? null
        : `model.layers.${Math.floor(i / 100)}.${['norm', 'mlp'][Math.floor(i / 50) % 2]}`,
    origins: i === 0 ? ['l_x_'] : []
  }));
  for (const stage of ['dynamo', 'post_grad']) {
    compilation.graphs[stage].nodes = nodes;
  }
  compilation.kernels = [];
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cs-graph-'));
  const file = path.join(folder, 'large.compilescope.json');
  fs.writeFileSync(file, JSON.stringify(report));
  return file;
}
