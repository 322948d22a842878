import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { INotebookTracker } from '@jupyterlab/notebook';
import { NotebookLink } from '../notebook/link';
import { ICompilescope } from '../tokens';

/**
 * Ties the cells of every notebook to the selection.
 */
export const notebookPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-compilescope:notebook',
  description: 'Marks the lines of a notebook that the selection comes from.',
  autoStart: true,
  requires: [ICompilescope, INotebookTracker],
  activate: (app, service: ICompilescope, notebooks: INotebookTracker) => {
    const add = (notebook: NotebookPanel) => {
      const link = new NotebookLink(notebook, service.modelOf(notebook, false));
      notebook.disposed.connect(() => link.dispose());
    };
    notebooks.widgetAdded.connect((_, notebook) => add(notebook));
    notebooks.forEach(add);
  }
};
