import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';
import type { Tabs } from './tabs';

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } };

/**
 * All views in a menu: to open one, here or in a panel of its own.
 */
export class ViewMenu extends Menu {
  constructor(options: Tabs.IOptions, state: Tabs.IState) {
    const { views, open, beside, trans } = options;
    const { current, counts } = state;
    const commands = new CommandRegistry();
    super({ commands });
    for (const view of views) {
      const name = view.label(trans);
      const count = counts[view.id];
      commands.addCommand(view.id, {
        label: count ? `${name} (${count.text})` : name,
        caption: view.caption(trans),
        describedBy: NO_ARGUMENTS,
        isToggleable: true,
        isToggled: () => view.id === current,
        execute: () => open(view.id)
      });
      this.addItem({ command: view.id });
      if (view.id === current && beside) {
        commands.addCommand('beside', {
          label: trans.__('Open %1 Beside', name),
          caption: trans.__('Open this view in a panel of its own'),
          describedBy: NO_ARGUMENTS,
          execute: () => beside(view.id)
        });
      }
    }
    if (beside) {
      this.addItem({ type: 'separator' });
      this.addItem({ command: 'beside' });
    }
  }

  /**
   * Open below an element, its right edges aligned.
   */
  openAt(anchor: HTMLElement): void {
    const { right, bottom } = anchor.getBoundingClientRect();
    this.open(right, bottom, { horizontalAlignment: 'right' });
  }
}
