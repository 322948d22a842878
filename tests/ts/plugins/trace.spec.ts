import type { JupyterFrontEnd } from '@jupyterlab/application';
import { ServiceManagerMock } from '@jupyterlab/services/lib/testutils';
import { CommandRegistry } from '@lumino/commands';
import type { Widget } from '@lumino/widgets';
import { CommandIDs } from '../../../src/plugins/modelCommands';
import { tracePlugin } from '../../../src/plugins/trace';

it('A trace that is asked for twice at once is opened once', async () => {
  const commands = new CommandRegistry();
  const shown: Widget[] = [];
  const shell = {
    add: (widget: Widget) => shown.push(widget),
    activateById: jest.fn()
  };
  const serviceManager = new ServiceManagerMock();
  const app = { commands, shell, serviceManager } as unknown as JupyterFrontEnd;
  await tracePlugin.activate(app, { adopt: jest.fn() }, {}, null);
  const open = (path: string) =>
    commands.execute(CommandIDs.openTrace, { path });
  const [first, second, other] = await Promise.all([
    open('a/torch.log'),
    open('a/torch.log'),
    open('b/torch.log')
  ]);
  expect(first).toBe(second);
  expect(shown).toEqual([first, other]);
  expect(await open('a/torch.log')).toBe(first);
  shown.forEach(widget => widget.dispose());
});
