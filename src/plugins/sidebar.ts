import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { addModelCommands, CommandIDs, NO_ARGUMENTS } from './modelCommands';
import { compilescopeIcon } from '../icons';
import { Sidebar } from '../panels/sidebar';
import { ICompilescope } from '../tokens';

/**
 * The sidebar, and the commands that act on the current kernel's report.
 */
export const sidebarPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-compilescope:sidebar',
  description: 'The sidebar: subjects, switches, variants and problems.',
  autoStart: true,
  requires: [ICompilescope],
  optional: [ICommandPalette, ILabShell, ILayoutRestorer, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    service: ICompilescope,
    palette: ICommandPalette | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null
  ) => {
    const { commands, shell } = app;
    const trans = (translator ?? nullTranslator).load(
      'jupyterlab_compilescope'
    );
    addModelCommands(commands, service, trans);
    if (!labShell) {
      return;
    }
    const sidebar = new Sidebar({
      service,
      translator: translator ?? undefined,
      openView: view => {
        if (!service.openView(view)) {
          void commands.execute(CommandIDs.openView, { view });
        }
      },
      save: format => void commands.execute(CommandIDs.saveReport, { format }),
      canRunAgain: () => commands.isEnabled(CommandIDs.runAgain),
      runAgain: () => void commands.execute(CommandIDs.runAgain)
    });
    sidebar.id = 'compilescope-sidebar';
    sidebar.title.icon = compilescopeIcon;
    sidebar.title.caption = trans.__('Compilescope');
    shell.add(sidebar, 'right', { rank: 600, type: 'Compilescope' });
    restorer?.add(sidebar, sidebar.id);

    commands.addCommand(CommandIDs.showSidebar, {
      label: trans.__('Show the Compilescope Sidebar'),
      caption: trans.__('Subjects, switches, variants and problems'),
      icon: compilescopeIcon,
      describedBy: NO_ARGUMENTS,
      execute: () => shell.activateById(sidebar.id)
    });

    const category = trans.__('Compilescope');
    for (const [command, args] of [
      [CommandIDs.showSidebar, {}],
      [CommandIDs.run, {}],
      [CommandIDs.cancel, {}],
      [CommandIDs.runAgain, {}],
      [CommandIDs.toggleCppWrapper, {}],
      [CommandIDs.saveReport, { format: 'html' }],
      [CommandIDs.saveReport, { format: 'json' }],
      [CommandIDs.saveReport, { format: 'html', redact: true }],
      [CommandIDs.saveReport, { format: 'json', redact: true }],
      [CommandIDs.forget, {}],
      [CommandIDs.doctor, {}]
    ] as const) {
      palette?.addItem({ command, args, category });
    }
  }
};
