import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';

/**
 * The code cells whose whole text is the given one.
 */
export function cellsWith(notebook: Notebook, text: string): Cell[] {
  const cellText = normalize(text);
  return notebook.widgets.filter(
    cell =>
      cell.model.type === 'code' &&
      normalize(cell.model.sharedModel.getSource()) === cellText
  );
}

/**
 * The file that a cell was compiled as, if it is in the report as it is now.
 */
export function fileOf(
  cell: Cell,
  files: Record<string, string>
): string | null {
  const text = normalize(cell.model.sharedModel.getSource());
  const entry = Object.entries(files)
    // The last of several runs of the same text is the one that is in force.
    .reverse()
    .find(([, source]) => normalize(source) === text);
  return entry?.[0] ?? null;
}

/**
 * IPython ends the text of every cell with one newline.
 */
function normalize(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(/\n+$/, '');
}
