import type { NotebookPanel } from '@jupyterlab/notebook';

/**
 * How many frames in a row a cell stays at its place once the layout has settled,
 * and how many frames are waited for that at most.
 */
const STABLE_FRAMES = 5;
const MAX_FRAMES = 60;

/**
 * Keep a cell in place on the screen while the notebook becomes narrower and the cells
 * above it wrap into more lines. A cell that is out of view is left there.
 *
 * @param id - The cell's.
 * @param change - What makes the notebook narrower.
 */
export function keepInView(
  notebook: NotebookPanel,
  id: string | null | undefined,
  change: () => void
): void {
  const { content } = notebook;
  const cell =
    content.widgets.find(widget => widget.model.id === id) ??
    content.activeCell;
  const { outerNode } = content;
  const top = () =>
    cell!.node.getBoundingClientRect().top -
    outerNode.getBoundingClientRect().top;
  const before = cell?.isAttached ? top() : NaN;
  const isSeen =
    before < outerNode.clientHeight && before > -outerNode.clientHeight;
  change();
  if (!cell || !isSeen) {
    return;
  }
  let still = 0;
  let frames = 0;
  const hold = () => {
    if (notebook.isDisposed || !cell.isAttached) {
      return;
    }
    const moved = top() - before;
    still = Math.abs(moved) < 1 ? still + 1 : 0;
    outerNode.scrollTop += moved;
    if (still < STABLE_FRAMES && ++frames < MAX_FRAMES) {
      requestAnimationFrame(hold);
    }
  };
  requestAnimationFrame(hold);
}
