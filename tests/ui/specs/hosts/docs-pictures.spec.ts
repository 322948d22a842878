import { expect, test } from '@playwright/test';
import * as fs from 'fs';
import * as path from 'path';
import { REPORTS, savePage } from '../../helpers/savedPage';

/**
 * The pictures in `docs/images/`, taken from saved pages: `docs/pictures.json` lists
 * them. `make pictures` takes them anew.
 */

const ROOT = path.resolve(__dirname, '../../../..');
const IMAGES = path.join(ROOT, 'docs/images');

interface IPicture {
  readonly report: string;
  readonly view: string;
  /**
   * The variant to pick, where it is not the first.
   */
  readonly variant?: string;
  /**
   * The part of the view that is shown, by its title; the whole view otherwise.
   */
  readonly part?: string;
  /**
   * The height to cut it to, where little is below.
   */
  readonly height?: number;
}

const { stored, learn, examples } = JSON.parse(
  fs.readFileSync(path.join(ROOT, 'docs/pictures.json'), 'utf8')
) as Record<'stored' | 'learn' | 'examples', Record<string, IPicture>>;

test.skip(!process.env.COMPILESCOPE_DOCS_PICTURES, 'make pictures takes them');
test.use({ viewport: { width: 1240, height: 700 } });

const pictures = [
  ...Object.entries(stored).map(entry => ({ folder: REPORTS, entry })),
  ...Object.entries(learn).map(entry => ({
    folder: path.join(ROOT, 'docs/learn/reports'),
    entry
  })),
  ...Object.entries(examples).map(entry => ({
    folder: path.join(ROOT, 'build/symptoms'),
    entry
  }))
];
for (const {
  folder,
  entry: [name, { report, view, variant, part, height }]
} of pictures) {
  test(name, async ({ page }) => {
    await page.goto(`${savePage(report, '', folder)}#view=${view}`);
    const panel = page.locator('[role=tabpanel]:visible');
    await expect(panel).toBeVisible();
    await expect(panel).not.toContainText('Loading');
    if (variant) {
      await page.getByLabel('Variant', { exact: true }).selectOption(variant);
    }
    // Charts and graphs are drawn some frames after their view is there.
    await page.waitForTimeout(2000);
    const shown = part
      ? panel.getByRole('region', { name: part, exact: true })
      : panel;
    if (part) {
      await shown.evaluate(element => element.scrollIntoView());
    }
    const end = await shown.evaluate(element =>
      Math.max(
        ...[...element.querySelectorAll('*')]
          .filter(each => !each.children.length)
          .map(each => each.getBoundingClientRect().bottom)
      )
    );
    // Without the header and the list of variants; with the tabs, but for a part of a view.
    const aside = (await page
      .locator('.jp-Compilescope-page-aside')
      .boundingBox())!;
    const size = page.viewportSize()!;
    const x = aside.x + aside.width;
    const y = part ? (await shown.boundingBox())!.y : aside.y;
    const clip = {
      x,
      y,
      width: size.width - x,
      height: height ?? Math.min(end + 12, size.height) - y,
      scale: 1
    };
    const client = await page.context().newCDPSession(page);
    const { data } = await client.send('Page.captureScreenshot', {
      format: 'webp',
      quality: 65,
      clip
    });
    const target = path.join(IMAGES, `${name}.webp`);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, Buffer.from(data, 'base64'));
  });
}
