import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';
import type { IView } from '../views';
import type { ITabOptions, ITabState } from './tabTypes';

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } };

/**
 * A menu of views: to open one, or to open the current one in a separate panel.
 */
export class ViewMenu extends Menu {
  constructor(
    options: ITabOptions,
    state: ITabState,
    listed: readonly IView[]
  ) {
    const { views, open, beside, trans } = options;
    const { current, counts, nothing } = state;
    const commands = new CommandRegistry();
    super({ commands });
    for (const view of listed) {
      const name = (view.menuLabel ?? view.label)(trans);
      const count = counts[view.id];
      commands.addCommand(view.id, {
        label: count
          ? `${name} (${count.text})`
          : view.id in nothing
            ? trans.__('%1 (empty)', name)
            : name,
        caption: describe(view, nothing[view.id], trans),
        className: view.id in nothing ? 'jp-Compilescope-nothing' : '',
        describedBy: NO_ARGUMENTS,
        execute: () => open(view.id)
      });
      this.addItem({ command: view.id });
    }
    if (beside) {
      const shown = views.find(({ id }) => id === current)!;
      commands.addCommand('beside', {
        label: trans.__('Open %1 Beside', shown.label(trans)),
        caption: trans.__('Open this view in a panel of its own'),
        describedBy: NO_ARGUMENTS,
        execute: () => beside(current)
      });
      if (listed.length > 0) {
        this.addItem({ type: 'separator' });
      }
      this.addItem({ command: 'beside' });
    }
  }

  /**
   * Opens below an element, aligned at the right. If it is closed without a
   * choice, the element gets the focus again.
   */
  openAt(anchor: HTMLElement): void {
    this.aboutToClose.connect(() => anchor.focus());
    const { right, bottom } = anchor.getBoundingClientRect();
    this.open(right, bottom, { horizontalAlignment: 'right' });
  }
}

/**
 * What a view is for, and why it is empty.
 */
export function describe(
  view: IView,
  nothing: string | undefined,
  trans: TranslationBundle
): string {
  const caption = view.caption(trans);
  return nothing ? trans.__('%1. %2.', caption, nothing) : caption;
}
