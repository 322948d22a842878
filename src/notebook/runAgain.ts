import { Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISubjectModel } from '../interfaces/subject';
import { WAITING } from './outputs';

/**
 * The place of the cell that a model's report is of; -1 where it is gone.
 */
export function cellOf(notebook: NotebookPanel, model: ISubjectModel): number {
  const cell = model.report?.subject.cell;
  return cell
    ? notebook.content.widgets.findIndex(widget => widget.model.id === cell)
    : -1;
}

/**
 * Run the cell of a model's report again; in a kernel that knows nothing of
 * it any more, with the cells above it.
 */
export async function runAgain(
  notebook: NotebookPanel,
  model: ISubjectModel,
  trans: TranslationBundle
): Promise<void> {
  const { content, sessionContext } = notebook;
  const index = cellOf(notebook, model);
  if (index < 0) {
    return;
  }
  const isNew = !model.isLive;
  if (model.status.kind === 'dead') {
    await sessionContext.restartKernel();
  }
  if (isNew) {
    await connected(model);
  }
  if (isNew && model.status.kind === 'unloaded') {
    // The cell that does so need not be above it.
    await model.load();
  }
  content.deselectAll();
  content.activeCellIndex = index;
  const isRun =
    !isNew || (await NotebookActions.runAllAbove(content, sessionContext));
  if (isRun) {
    content.activeCellIndex = index;
    await NotebookActions.run(content, sessionContext);
  } else {
    Notification.warning(
      trans.__(
        'A cell above failed, so the cell of the report did not run. Fix that cell and run it again.'
      ),
      { autoClose: 8000 }
    );
  }
}

/**
 * Wait until the kernel has said whether it has the extension.
 */
async function connected(model: ISubjectModel): Promise<void> {
  while (WAITING.includes(model.status.kind)) {
    await new Promise<void>(resolve => {
      const changed = () => {
        model.statusChanged.disconnect(changed);
        resolve();
      };
      model.statusChanged.connect(changed);
    });
  }
}
