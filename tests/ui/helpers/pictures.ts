import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator, Page } from '@playwright/test';
import * as path from 'path';

const ARTIFACTS = path.resolve(__dirname, '../artifacts');

/**
 * Whether pictures are taken: to look at, not to compare. No test needs them,
 * and a theme that is changed for one lays out all of JupyterLab anew.
 */
export const PICTURES = Boolean(process.env.COMPILESCOPE_PICTURES);

/**
 * Take a picture of a page or a part of it, if pictures are taken.
 */
export async function takePicture(
  part: Page | Locator,
  name: string
): Promise<void> {
  if (PICTURES) {
    await part.screenshot({ path: path.join(ARTIFACTS, `${name}.png`) });
  }
}

/**
 * Take a picture in the dark theme, if pictures are taken; the theme is light
 * before and after.
 */
export async function takeDarkPicture(
  page: IJupyterLabPageFixture,
  part: Page | Locator,
  name: string
): Promise<void> {
  if (PICTURES) {
    await page.theme.setDarkTheme();
    await takePicture(part, name);
    await page.theme.setLightTheme();
  }
}
