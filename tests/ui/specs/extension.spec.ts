import { expect, test } from '@jupyterlab/galata';

test('the extension is loaded and enabled', async ({ page }) => {
  const plugins = await page.evaluate(() => {
    const app = (window as unknown as { jupyterapp: any }).jupyterapp;
    return app
      .listPlugins()
      .filter((id: string) => id.startsWith('jupyterlab-compilescope:'));
  });
  expect(plugins).not.toHaveLength(0);
});
