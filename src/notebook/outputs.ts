import { Notification } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ConnectionKind } from '../interfaces/status';
import type { ISubjectModel } from '../interfaces/subject';

/**
 * The attribute of a button in a cell's output that opens the panel: the id of
 * the subject. The kernel writes it
 * (`views/html/templates/summary/cell_summary.html`).
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

/**
 * Select a subject, or say that its kernel does not know it any more.
 */
export function selectSubject(
  model: ISubjectModel,
  subject: string,
  trans: TranslationBundle
): void {
  if (model.subjects.some(summary => summary.subject.id === subject)) {
    model.subject = subject;
  } else if (!WAITING.includes(model.status.kind)) {
    // The panel may be open already, with another report.
    Notification.info(
      trans.__(
        'This report is gone: the kernel was restarted or shut down. Run the cell again, with the cells above it.'
      ),
      { autoClose: 8000 }
    );
  }
}

/**
 * States in which the kernel has not said yet what it knows.
 */
export const WAITING: readonly ConnectionKind[] = ['connecting', 'busy'];
