import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILabShell } from '@jupyterlab/application';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { Compilescope } from '../model/service';
import { ICompilescope } from '../tokens';

/**
 * The service that follows the kernels. Notebook has no room for the views: it leaves
 * the kernels alone, which show the panel in the cell then.
 */
export const servicePlugin: JupyterFrontEndPlugin<ICompilescope> = {
  id: 'jupyterlab-compilescope:service',
  description: 'Follows what torch.compile made in the current kernel.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [IConsoleTracker, ILabShell],
  provides: ICompilescope,
  activate: (
    app,
    notebooks: INotebookTracker,
    consoles: IConsoleTracker | null,
    labShell: ILabShell | null
  ) =>
    new Compilescope({
      notebooks,
      consoles,
      shell: app.shell,
      connects: labShell !== null
    })
};
