import type { NotebookPanel } from '@jupyterlab/notebook';

/**
 * The text that is selected in the active cell of a notebook; empty if none is.
 */
export function selectedText({ content }: NotebookPanel): string {
  const editor = content.activeCell?.editor;
  if (!editor) {
    return '';
  }
  const { start, end } = editor.getSelection();
  const [from, to] = [start, end]
    .map(position => editor.getOffsetAt(position))
    .sort((a, b) => a - b);
  return editor.model.sharedModel.getSource().slice(from, to);
}
