import type { NotebookPanel } from '@jupyterlab/notebook';

/**
 * The attribute of a button in a cell's output that opens the panel: the id of
 * the subject. The kernel writes it (`views/html/cell.py`).
 */
const SUBJECT = 'data-compilescope-subject';

/**
 * Call back with the subject whose button in an output is clicked.
 *
 * Outputs of strangers come without the attribute: JupyterLab takes it away.
 */
export function onOpen(
  notebook: NotebookPanel,
  open: (subject: string) => void
): void {
  notebook.content.node.addEventListener('click', event => {
    const button = (event.target as Element).closest(`button[${SUBJECT}]`);
    if (button) {
      open(button.getAttribute(SUBJECT)!);
    }
  });
}
