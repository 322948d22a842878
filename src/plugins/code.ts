import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CommandIDs } from '../commands';
import { compilescopeIcon } from '../icons';
import type { CodeWidget } from '../panels/main';
import { divide } from '../panels/split';
import { ICompilescope } from '../tokens';

const PLUGIN_ID = 'jupyterlab-compilescope:plugin';

/**
 * The code view's part of the width that it shares with its notebook: two
 * wrappers need more than one cell.
 */
const SHARE = 0.55;

/**
 * The code view beside the notebook.
 */
export const codePlugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'The generated code beside the notebook.',
  autoStart: true,
  requires: [
    ICompilescope,
    INotebookTracker,
    IEditorServices,
    IEditorLanguageRegistry
  ],
  optional: [ICommandPalette, ILayoutRestorer, ISettingRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    service: ICompilescope,
    notebooks: INotebookTracker,
    editorServices: IEditorServices,
    languages: IEditorLanguageRegistry,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null,
    translator: ITranslator | null
  ) => {
    const { commands, shell } = app;
    const trans = (translator ?? nullTranslator).load(
      'jupyterlab_compilescope'
    );
    const tracker = new WidgetTracker<CodeWidget>({
      namespace: 'compilescope-code'
    });

    // A layout that is restored has the user's own sizes.
    let isRestored = false;
    void app.restored.then(() => {
      isRestored = true;
    });

    const create = async (notebook: NotebookPanel): Promise<CodeWidget> => {
      const { CodeWidget } = await import('../panels/main');
      const widget = new CodeWidget({
        model: service.modelOf(notebook),
        notebook,
        commands,
        editorServices,
        languages,
        translator: translator ?? undefined
      });
      service.associate(widget, notebook);
      notebook.context.pathChanged.connect(() => {
        if (!widget.isDisposed) {
          void tracker.save(widget);
        }
      });
      shell.add(widget, 'main', {
        mode: 'split-right',
        ref: notebook.id,
        activate: false,
        type: 'Compilescope'
      });
      await tracker.add(widget);
      if (isRestored) {
        requestAnimationFrame(() => divide(notebook, widget, SHARE));
      }
      return widget;
    };

    const opening = new Map<NotebookPanel, Promise<CodeWidget>>();
    const open = async (notebook: NotebookPanel, activate: boolean) => {
      let widget = tracker.find(each => each.notebook === notebook);
      if (!widget) {
        const created = opening.get(notebook) ?? create(notebook);
        opening.set(notebook, created);
        widget = await created.finally(() => opening.delete(notebook));
      }
      if (activate) {
        shell.activateById(widget.id);
      }
      return widget;
    };

    commands.addCommand(CommandIDs.openCode, {
      label: trans.__('Open the Generated Code'),
      caption: trans.__(
        'Show what torch.compile made of the current notebook’s code'
      ),
      icon: compilescopeIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: {
              type: 'string',
              description: trans.__(
                'The notebook’s path; without it, the current notebook'
              )
            }
          }
        }
      },
      isEnabled: args =>
        typeof args.path === 'string' || notebooks.currentWidget !== null,
      execute: args => {
        const notebook =
          typeof args.path === 'string'
            ? notebooks.find(each => each.context.path === args.path)
            : notebooks.currentWidget;
        return notebook ? open(notebook, true) : undefined;
      }
    });
    palette?.addItem({
      command: CommandIDs.openCode,
      category: trans.__('Compilescope')
    });

    void restorer?.restore(tracker, {
      command: CommandIDs.openCode,
      args: widget => ({ path: widget.notebook.context.path }),
      name: widget => widget.notebook.context.path,
      when: notebooks.restored
    });

    let openAfterCompile = true;
    const read = (loaded: ISettingRegistry.ISettings) => {
      openAfterCompile = loaded.get('openAfterCompile').composite as boolean;
    };
    settings
      ?.load(PLUGIN_ID)
      .then(loaded => {
        read(loaded);
        loaded.changed.connect(read);
      })
      .catch(error => {
        console.error(`Cannot read the settings of ${PLUGIN_ID}`, error);
      });
    service.inspected.connect((_, widget) => {
      const notebook = notebooks.find(each => each === widget);
      if (openAfterCompile && notebook) {
        void open(notebook, false);
      }
    });
  }
};
