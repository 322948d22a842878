import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILabShell } from '@jupyterlab/application';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CommandIDs, NO_ARGUMENTS } from './modelCommands';
import { cellOf, runAgain } from '../notebook/runAgain';
import { BreakMarks } from '../notebook/breaks';
import { NotebookLink } from '../notebook/link';
import { onOpen, selectSubject } from '../notebook/outputs';
import { endProgress } from '../notebook/progress';
import { ICompilescope } from '../tokens';

/**
 * Ties the cells of every notebook to the selection, and marks the lines where
 * graphs broke.
 */
export const notebookPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-compilescope:notebook',
  description: 'Marks the lines of a notebook that the selection comes from.',
  autoStart: true,
  requires: [ICompilescope, INotebookTracker],
  optional: [ILabShell, ITranslator],
  activate: (
    app,
    service: ICompilescope,
    notebooks: INotebookTracker,
    labShell: ILabShell | null,
    translator: ITranslator | null
  ) => {
    if (!labShell) {
      return;
    }
    const trans = (translator ?? nullTranslator).load(
      'jupyterlab_compilescope'
    );
    const add = (notebook: NotebookPanel) => {
      const model = service.modelOf(notebook, false);
      const link = new NotebookLink(notebook, model);
      const breaks = new BreakMarks(notebook, model, trans);
      endProgress(notebook, () => service.modelOf(notebook), trans);
      onOpen(notebook, subject => {
        selectSubject(model, subject, trans);
        void app.commands.execute(CommandIDs.openView, {
          view: 'overview',
          path: notebook.context.path
        });
      });
      notebook.disposed.connect(() => {
        link.dispose();
        breaks.dispose();
      });
    };
    notebooks.widgetAdded.connect((_, notebook) => add(notebook));
    notebooks.forEach(add);
    const current = () =>
      notebooks.find(
        notebookPanel =>
          service.modelOf(notebookPanel, false) === service.current
      );
    app.commands.addCommand(CommandIDs.runAgain, {
      label: trans.__('Run the Cell of the Report Again'),
      caption: trans.__(
        'Run the cell of the selected subject again; in a restarted kernel, with the cells above it'
      ),
      describedBy: NO_ARGUMENTS,
      isEnabled: () => {
        const notebook = current();
        return (
          notebook !== undefined &&
          cellOf(notebook, service.modelOf(notebook, false)) >= 0
        );
      },
      execute: () => {
        const notebook = current();
        return (
          notebook &&
          runAgain(notebook, service.modelOf(notebook, false), trans)
        );
      }
    });
  }
};
