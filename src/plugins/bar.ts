import type { Widget } from '@lumino/widgets';
import { Panel } from '@lumino/widgets';

/**
 * The middle of a toolbar. It shrinks before its neighbors do, and its parts share the
 * room that is left.
 */
export function bar(...parts: Widget[]): Widget {
  const panel = new Panel();
  panel.addClass('jp-Compilescope-bar');
  parts.forEach(part => panel.addWidget(part));
  return panel;
}
