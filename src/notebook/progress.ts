import type { ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * What the metadata of an output have, under `compilescope`, as long as the output
 * shows the progress of an inspection. The kernel writes it (`views/progress.py`).
 */
const UNFINISHED = 'unfinished';

/**
 * Let the outputs that show the progress of an inspection say why it does not go
 * on, once its kernel is gone: only that kernel would have replaced them.
 */
export function endProgress(
  notebook: NotebookPanel,
  trans: TranslationBundle
): void {
  const { sessionContext } = notebook;
  const end = (text: string) => {
    for (const cell of notebook.content.model?.cells ?? []) {
      if (cell.type === 'code') {
        replaceUnfinished((cell as ICodeCellModel).outputs, text);
      }
    }
  };
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
}

function replaceUnfinished(
  outputs: ICodeCellModel['outputs'],
  text: string
): void {
  for (let index = 0; index < outputs.length; index++) {
    const { compilescope } = outputs.get(index).metadata;
    if (compilescope === UNFINISHED) {
      outputs.set(index, {
        output_type: 'display_data',
        data: { 'text/plain': text },
        metadata: {}
      });
    }
  }
}
