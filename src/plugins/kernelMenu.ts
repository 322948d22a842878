import type { ISessionContextDialogs } from '@jupyterlab/apputils';
import type { IMainMenu } from '@jupyterlab/mainmenu';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { Widget } from '@lumino/widgets';
import { CommandIDs, NO_ARGUMENTS } from './modelCommands';

/**
 * Have the items of the menu Kernel act on a panel's kernel while the panel is the
 * current widget: those of JupyterLab act on a notebook that is current itself.
 */
export function addKernelUser(options: {
  menu: IMainMenu;
  commands: CommandRegistry;
  dialogs: ISessionContextDialogs;
  trans: TranslationBundle;

  /**
   * The current widget.
   */
  current: () => Widget | null;

  /**
   * The notebook of a panel; undefined for other widgets.
   */
  notebookOf: (widget: Widget) => NotebookPanel | undefined;
}): void {
  const { menu, commands, dialogs, trans, current, notebookOf } = options;
  const { kernelUsers: users } = menu.kernelMenu;
  const add = (
    { id, label, user }: IItem,
    act: (notebook: NotebookPanel) => unknown
  ) => {
    const notebook = () => {
      const widget = current();
      return widget ? notebookOf(widget) : undefined;
    };
    commands.addCommand(id, {
      label,
      caption: trans.__('%1 of the panel’s notebook', label.replace(/…$/, '')),
      describedBy: NO_ARGUMENTS,
      isEnabled: () => notebook() !== undefined,
      execute: () => {
        const shown = notebook();
        return shown && act(shown);
      }
    });
    user.add({ id, isEnabled: widget => notebookOf(widget) !== undefined });
  };
  add(
    {
      id: CommandIDs.interruptKernel,
      label: trans.__('Interrupt Kernel'),
      user: users.interruptKernel
    },
    ({ sessionContext }) => sessionContext.session?.kernel?.interrupt()
  );
  add(
    {
      id: CommandIDs.restartKernel,
      label: trans.__('Restart Kernel…'),
      user: users.restartKernel
    },
    ({ sessionContext }) => dialogs.restart(sessionContext)
  );
  add(
    {
      id: CommandIDs.clearOutputs,
      label: trans.__('Clear Outputs of All Cells'),
      user: users.clearWidget
    },
    ({ content }) => NotebookActions.clearAllOutputs(content)
  );
  add(
    {
      id: CommandIDs.reconnectKernel,
      label: trans.__('Reconnect to Kernel'),
      user: users.reconnectToKernel
    },
    ({ sessionContext }) => sessionContext.session?.kernel?.reconnect()
  );
  add(
    {
      id: CommandIDs.changeKernel,
      label: trans.__('Change Kernel…'),
      user: users.changeKernel
    },
    ({ sessionContext }) => dialogs.selectKernel(sessionContext)
  );
  add(
    {
      id: CommandIDs.shutdownKernel,
      label: trans.__('Shut Down Kernel'),
      user: users.shutdownKernel
    },
    ({ sessionContext }) => sessionContext.shutdown()
  );
}

/**
 * An item of the menu.
 */
interface IItem {
  readonly id: string;
  readonly label: string;

  /**
   * The item's group of commands, one for each kind of widget.
   */
  readonly user: IMainMenu['kernelMenu']['kernelUsers']['restartKernel'];
}
