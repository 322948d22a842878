import type { Widget } from '@lumino/widgets';
import { Panel } from '@lumino/widgets';

/**
 * What stands in a toolbar's middle. It gives way to what stands beside it; its
 * parts give way to each other.
 */
export function bar(...parts: Widget[]): Widget {
  const panel = new Panel();
  panel.addClass('jp-Compilescope-bar');
  parts.forEach(part => panel.addWidget(part));
  return panel;
}
