import type { JupyterFrontEnd } from '@jupyterlab/application';
import { openSidebar } from '../../helpers/compilescope';
import { expect, test } from '../../helpers/test';

test('the extension is loaded and its sidebar is there', async ({ page }) => {
  const plugins = await page.evaluate(() => {
    const { jupyterapp } = window as unknown as { jupyterapp: JupyterFrontEnd };
    return jupyterapp
      .listPlugins()
      .filter(id => id.startsWith('jupyterlab-compilescope:'))
      .map(id => [id, jupyterapp.isPluginActivated(id)]);
  });
  expect(plugins).not.toHaveLength(0);
  expect(plugins.filter(([, isActive]) => !isActive)).toEqual([]);
  await expect(await openSidebar(page)).toBeVisible();
});

test('its commands are in the palette, with labels', async ({ page }) => {
  const commands = await page.evaluate(() => {
    const { jupyterapp } = window as unknown as { jupyterapp: JupyterFrontEnd };
    const { commands } = jupyterapp;
    return commands
      .listCommands()
      .filter(id => id.startsWith('compilescope:'))
      .map(id => [id, commands.label(id)]);
  });
  expect(commands).not.toHaveLength(0);
  expect(commands.filter(([, label]) => !label)).toEqual([]);
  await page.keyboard.press('Control+Shift+C');
  const palette = page.locator('.lm-CommandPalette');
  await palette
    .getByRole('searchbox')
    .or(palette.locator('input'))
    .fill('compilescope');
  await expect(
    palette.locator('.lm-CommandPalette-itemLabel').first()
  ).toBeVisible();
  // It lies over the page that other tests share.
  await page.keyboard.press('Escape');
  await expect(palette).toBeHidden();
});

test('its settings have a page', async ({ page }) => {
  const titles = await page.evaluate(async () => {
    const { jupyterapp } = window as unknown as { jupyterapp: JupyterFrontEnd };
    const { values } = await jupyterapp.serviceManager.settings.list();
    const ids = jupyterapp.listPlugins();
    return values
      .filter(({ id }) => id.startsWith('jupyterlab-compilescope:'))
      .map(({ id, schema }) => [ids.includes(id), schema.title]);
  });
  expect(titles).toEqual([[true, expect.stringMatching(/compilescope/i)]]);
});
