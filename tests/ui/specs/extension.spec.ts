import { expect, test } from '@jupyterlab/galata';
import type { JupyterFrontEnd } from '@jupyterlab/application';

test('the extension is loaded and enabled', async ({ page }) => {
  const plugins = await page.evaluate(() => {
    const { jupyterapp } = window as unknown as { jupyterapp: JupyterFrontEnd };
    return jupyterapp
      .listPlugins()
      .filter(id => id.startsWith('jupyterlab-compilescope:'));
  });
  expect(plugins).not.toHaveLength(0);
});
