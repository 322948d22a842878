import type { ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { isActive } from '../model/jobs';
import type { ISubjectModel } from '../interfaces/subject';

/**
 * What the metadata of an output have, under `compilescope`, as long as the output
 * shows the progress of an inspection. The kernel writes it (`views/progress.py`).
 */
const UNFINISHED = 'unfinished';

type IOutput = ReturnType<ICodeCellModel['outputs']['get']>;

/**
 * Let the outputs that show the progress of an inspection say why it does not go
 * on, once its kernel is gone: only that kernel would have replaced them.
 *
 * @param connected - The model of the notebook's kernel, to which it connects. It
 * is asked for where the notebook was opened with such outputs.
 */
export function endProgress(
  notebook: NotebookPanel,
  connected: () => ISubjectModel,
  trans: TranslationBundle
): void {
  const { sessionContext } = notebook;
  const end = (text: string) => replaceUnfinished(notebook, text);
  sessionContext.statusChanged.connect((_, status) => {
    if (status === 'restarting') {
      end(trans.__('The kernel was restarted before the inspection finished.'));
    } else if (status === 'autorestarting' || status === 'dead') {
      end(trans.__('The kernel died before the inspection finished.'));
    }
  });
  sessionContext.kernelChanged.connect((_, { oldValue }) => {
    // A page that was loaded anew has had no kernel before.
    if (oldValue) {
      end(trans.__('The kernel was shut down before the inspection finished.'));
    }
  });
  void Promise.all([notebook.context.ready, sessionContext.ready]).then(() => {
    const outputs = new Set(unfinished(notebook).map(({ output }) => output));
    if (outputs.size > 0 && !notebook.isDisposed) {
      endUnfinished(notebook, outputs, connected(), trans);
    }
  });
}

/**
 * End what the file had as it was opened: no kernel tells a new page of it. Not
 * before the notebook's kernel is done with what it inspects, which may be that.
 */
function endUnfinished(
  notebook: NotebookPanel,
  outputs: ReadonlySet<IOutput>,
  model: ISubjectModel,
  trans: TranslationBundle
): void {
  const look = () => {
    const { kind } = model.status;
    const isUnsure =
      kind === 'connecting' || kind === 'busy' || kind === 'error';
    if (isUnsure || (kind === 'ready' && isActive(model.job))) {
      return;
    }
    model.statusChanged.disconnect(look);
    model.jobChanged.disconnect(look);
    replaceUnfinished(
      notebook,
      trans.__(
        'The kernel ended, or the page was reloaded, before the inspection finished. The panel shows the reports that the kernel has.'
      ),
      outputs
    );
  };
  model.statusChanged.connect(look);
  model.jobChanged.connect(look);
  look();
}

/**
 * The outputs that show progress, and where they are.
 */
function unfinished(notebook: NotebookPanel) {
  return [...(notebook.content.model?.cells ?? [])].flatMap(cell => {
    if (cell.type !== 'code') {
      return [];
    }
    const { outputs } = cell as ICodeCellModel;
    return Array.from({ length: outputs.length }, (_, index) => ({
      outputs,
      index,
      output: outputs.get(index)
    })).filter(({ output }) => output.metadata['compilescope'] === UNFINISHED);
  });
}

function replaceUnfinished(
  notebook: NotebookPanel,
  text: string,
  among?: ReadonlySet<IOutput>
): void {
  for (const { outputs, index, output } of unfinished(notebook)) {
    if (!among || among.has(output)) {
      outputs.set(index, {
        output_type: 'display_data',
        data: { 'text/plain': text },
        metadata: {}
      });
    }
  }
}
