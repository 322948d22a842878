import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { Compilescope } from '../model/service';
import { ICompilescope } from '../tokens';

/**
 * The service that follows the kernels.
 */
export const servicePlugin: JupyterFrontEndPlugin<ICompilescope> = {
  id: 'jupyterlab-compilescope:service',
  description: 'Follows what torch.compile made in the current kernel.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [IConsoleTracker],
  provides: ICompilescope,
  activate: (
    app,
    notebooks: INotebookTracker,
    consoles: IConsoleTracker | null
  ) => new Compilescope({ notebooks, consoles, shell: app.shell })
};
