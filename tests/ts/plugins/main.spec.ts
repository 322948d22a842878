import type { ISessionContextDialogs } from '@jupyterlab/apputils';
import { SemanticCommand } from '@jupyterlab/apputils';
import type { IMainMenu } from '@jupyterlab/mainmenu';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { SubjectModel } from '../../../src/model/subject';
import { addKernelUser } from '../../../src/plugins/kernelMenu';
import { ReportWidget } from '../../../src/plugins/reportWidget';
import type { IViewContext } from '../../../src/panels/views';

describe('ReportWidget', () => {
  it('tells that it was closed, so that it can be opened again', () => {
    const notebook = new Widget() as NotebookPanel;
    const context = { path: 'a/b.ipynb', pathChanged: new Signal({}) };
    Object.assign(notebook, { context });
    const connect = jest.spyOn(notebook.disposed, 'connect');
    const model = new SubjectModel();
    const widget = new ReportWidget({
      notebook,
      commands: new CommandRegistry(),
      context: {
        model,
        translator: nullTranslator,
        trans: nullTranslator.load('')
      } as unknown as IViewContext
    });
    const parts = [widget, widget.content, widget.content.pickers];
    const disposed: Widget[] = [];
    parts.forEach(part =>
      part.disposed.connect(sender => disposed.push(sender))
    );
    // The notebook holds nothing of it once it is closed.
    expect(connect.mock.calls.map(call => call[1])).toContain(widget);
    widget.close();
    expect(disposed).toHaveLength(parts.length);
    expect(disposed).toEqual(expect.arrayContaining(parts));
    widget.dispose();
    model.dispose();
    notebook.dispose();
  });
});

describe('addKernelUser', () => {
  const trans = nullTranslator.load('');

  it('acts on the kernel of the panel’s notebook, and of no other widget', async () => {
    const users = {
      interruptKernel: new SemanticCommand(),
      restartKernel: new SemanticCommand(),
      clearWidget: new SemanticCommand(),
      reconnectToKernel: new SemanticCommand(),
      changeKernel: new SemanticCommand(),
      shutdownKernel: new SemanticCommand()
    };
    const kernel = { interrupt: jest.fn(), reconnect: jest.fn() };
    const sessionContext = { session: { kernel }, shutdown: jest.fn() };
    const notebook = { sessionContext } as unknown as NotebookPanel;
    const dialogs = {
      restart: jest.fn().mockResolvedValue(true),
      selectKernel: jest.fn()
    };
    const [panel, other] = [new Widget(), new Widget()];
    let current: Widget | null = other;
    const commands = new CommandRegistry();
    addKernelUser({
      menu: { kernelMenu: { kernelUsers: users } } as unknown as IMainMenu,
      commands,
      dialogs: dialogs as unknown as ISessionContextDialogs,
      trans,
      current: () => current,
      notebookOf: widget => (widget === panel ? notebook : undefined)
    });
    for (const user of Object.values(users)) {
      expect(user.getActiveCommandId(other)).toBeNull();
      expect(commands.isEnabled(user.getActiveCommandId(panel)!)).toBe(false);
    }
    current = panel;
    const run = (user: SemanticCommand) =>
      commands.execute(user.getActiveCommandId(panel)!);
    await run(users.interruptKernel);
    expect(kernel.interrupt).toHaveBeenCalledTimes(1);
    await expect(run(users.restartKernel)).resolves.toBe(true);
    expect(dialogs.restart).toHaveBeenCalledWith(sessionContext);
    await run(users.reconnectToKernel);
    expect(kernel.reconnect).toHaveBeenCalledTimes(1);
    await run(users.changeKernel);
    expect(dialogs.selectKernel).toHaveBeenCalledWith(sessionContext);
    await run(users.shutdownKernel);
    expect(sessionContext.shutdown).toHaveBeenCalledTimes(1);
  });
});
