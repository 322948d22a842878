import { Notification } from '@jupyterlab/apputils';
import type { ICodeCellModel } from '@jupyterlab/cells';
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
  // With no cell above it, runAllAbove says that it failed.
  const isRun =
    !isNew ||
    index === 0 ||
    (await NotebookActions.runAllAbove(content, sessionContext));
  if (isRun) {
    content.activeCellIndex = index;
    await NotebookActions.run(content, sessionContext);
  } else {
    const failed = failedCell(notebook, index);
    if (failed) {
      content.activeCellIndex = failed.index;
      void content.scrollToItem(failed.index);
    }
    Notification.warning(
      failed
        ? trans.__(
            'Cell [%1] failed with %2, so the cell of the report did not run. Fix cell [%1], then run the cell of the report again.',
            failed.number,
            failed.error
          )
        : trans.__(
            'A cell above failed, so the cell of the report did not run. Fix that cell, then run the cell of the report again.'
          ),
      { autoClose: 8000 }
    );
  }
}

/**
 * The first cell above a place whose output is an error.
 */
function failedCell(
  { content }: NotebookPanel,
  place: number
): { index: number; number: string; error: string } | null {
  for (const [index, { model }] of content.widgets.slice(0, place).entries()) {
    if (model.type !== 'code') {
      continue;
    }
    const { outputs, executionCount } = model as ICodeCellModel;
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs.get(at).toJSON();
      if (output.output_type === 'error') {
        return {
          index,
          number: String(executionCount ?? ' '),
          error: String(output.ename)
        };
      }
    }
  }
  return null;
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
