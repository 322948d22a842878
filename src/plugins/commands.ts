import type { ICommandPalette } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { CommandIDs } from './modelCommands';
import { compilescopeIcon } from '../icons';
import type { IView, ViewTarget } from '../panels/views';
import { resolve, targets, VIEWS } from '../panels/views';

/**
 * What to open.
 */
export interface IOpenArguments {
  /**
   * The notebook's path; without it, the current notebook.
   */
  path?: string;

  /**
   * The view; without it, the one that was open last.
   */
  view?: ViewTarget;

  /**
   * Whether in a panel of its own, beside the one that is there.
   */
  beside?: boolean;

  /**
   * Which of the notebook's panels, where it is restored: 0 is its own.
   */
  place?: number;
}

/**
 * Add the commands that open views.
 */
export function addViewCommands(options: {
  commands: CommandRegistry;
  palette: ICommandPalette | null;
  trans: TranslationBundle;
  canOpen: () => boolean;
  open: (args: IOpenArguments) => unknown;
}): void {
  const { commands, palette, trans, canOpen, open } = options;
  const path = {
    type: 'string',
    description: trans.__(
      'The notebook’s path; without it, the current notebook'
    )
  };
  const isEnabled = (args: ReadonlyPartialJSONObject) =>
    typeof args.path === 'string' || canOpen();
  const read = (args: ReadonlyPartialJSONObject): IOpenArguments => ({
    path: typeof args.path === 'string' ? args.path : undefined,
    view: resolve(args.view) ? (args.view as ViewTarget) : undefined,
    beside: args.beside === true,
    place: typeof args.place === 'number' ? args.place : undefined
  });
  commands.addCommand(CommandIDs.openView, {
    label: args => {
      const view = viewOf(args);
      if (!view) {
        return trans.__('Open Compilescope’s Views');
      }
      return args.beside === true
        ? trans.__('Open the View “%1” Beside', view.label(trans))
        : trans.__('Open the View “%1”', view.label(trans));
    },
    caption: args =>
      viewOf(args)?.caption(trans) ??
      trans.__('Show the compilations of the current notebook'),
    icon: compilescopeIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: {
          path,
          view: {
            type: 'string',
            enum: targets(),
            description: trans.__('The view; without it, the last one')
          },
          beside: {
            type: 'boolean',
            description: trans.__('Whether in a panel of its own')
          },
          place: {
            type: 'number',
            description: trans.__(
              'Which of the notebook’s panels; 0 is the first'
            )
          }
        }
      }
    },
    isEnabled,
    execute: args => open(read(args))
  });
  commands.addCommand(CommandIDs.openCode, {
    label: trans.__('Open the Generated Code'),
    caption: trans.__('Show the compilations of the current notebook'),
    icon: compilescopeIcon,
    describedBy: { args: { type: 'object', properties: { path } } },
    isEnabled,
    execute: args => open({ ...read(args), view: 'code' })
  });
  const category = trans.__('Compilescope');
  palette?.addItem({ command: CommandIDs.openCode, category });
  for (const { id } of VIEWS) {
    const args = { view: id };
    palette?.addItem({ command: CommandIDs.openView, args, category });
  }
}

function viewOf(args: ReadonlyPartialJSONObject): IView | undefined {
  const place = resolve(args.view);
  return VIEWS.find(view => view.id === place?.view);
}
