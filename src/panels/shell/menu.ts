import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';
import type { IView } from '../views';
import type { Tabs } from './tabs';

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } };

/**
 * All views in a menu: to open one, here or in a panel of its own.
 */
export class ViewMenu extends Menu {
  constructor(options: Tabs.IOptions, state: Tabs.IState) {
    const { views, open, beside, trans } = options;
    const { current, counts, nothing } = state;
    const commands = new CommandRegistry();
    super({ commands });
    let { group } = views[0];
    for (const view of views) {
      if (view.group !== group) {
        group = view.group;
        this.addItem({ type: 'separator' });
      }
      const name = view.label(trans);
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
   * Open below an element, its right edges aligned. Closed without a choice it
   * gives the focus back to the element.
   */
  openAt(anchor: HTMLElement): void {
    this.aboutToClose.connect(() => anchor.focus());
    const { right, bottom } = anchor.getBoundingClientRect();
    this.open(right, bottom, { horizontalAlignment: 'right' });
  }
}

/**
 * What a view is for, and why there is nothing in it.
 */
export function describe(
  view: IView,
  nothing: string | undefined,
  trans: TranslationBundle
): string {
  const caption = view.caption(trans);
  return nothing ? trans.__('%1. %2.', caption, nothing) : caption;
}
