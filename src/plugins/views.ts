import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import {
  ICommandPalette,
  ISessionContextDialogs,
  SessionContextDialogs,
  WidgetTracker
} from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IMainMenu } from '@jupyterlab/mainmenu';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { addViewCommands, type IOpenArguments } from './commands';
import { addKernelUser } from './kernelMenu';
import { CommandIDs } from './modelCommands';
import { cellOf, runAgain } from '../notebook/runAgain';
import { keepInView } from '../notebook/anchor';
import { Revealer } from '../notebook/reveal';
import { selectedText } from '../notebook/selection';
import type { ReportWidget } from './reportWidget';
import { bringToFront, divide, tabBarOf } from './split';
import type { ViewTarget } from '../panels/views';
import { ICompilescope } from '../tokens';

const PLUGIN_ID = 'jupyterlab-compilescope:plugin';

/**
 * The views' part of the width that they share with their notebook: two
 * wrappers need more than one cell.
 */
const SHARE = 0.55;

/**
 * The views beside the notebook.
 */
export const viewsPlugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'The views of a report beside the notebook.',
  autoStart: true,
  requires: [ICompilescope, INotebookTracker, IEditorLanguageRegistry],
  optional: [
    ICommandPalette,
    ILabShell,
    ILayoutRestorer,
    ISettingRegistry,
    ITranslator,
    IMainMenu,
    ISessionContextDialogs
  ],
  activate: (
    app: JupyterFrontEnd,
    service: ICompilescope,
    notebooks: INotebookTracker,
    languages: IEditorLanguageRegistry,
    palette: ICommandPalette | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null,
    translatorOrNull: ITranslator | null,
    menu: IMainMenu | null,
    dialogs: ISessionContextDialogs | null
  ) => {
    if (!labShell) {
      return;
    }
    const { commands, shell } = app;
    const translator = translatorOrNull ?? nullTranslator;
    const trans = translator.load('jupyterlab_compilescope');
    const tracker = new WidgetTracker<ReportWidget>({
      namespace: 'compilescope-views'
    });
    const revealer = new Revealer({
      commands,
      contents: app.serviceManager.contents,
      activate: id => shell.activateById(id),
      trans
    });

    // A layout that is restored has the user's own sizes.
    let isRestored = false;
    void app.restored.then(() => {
      isRestored = true;
    });

    const create = async (
      notebook: NotebookPanel,
      view: ViewTarget | undefined,
      place: number
    ): Promise<ReportWidget> => {
      const { ReportWidget } = await import('./reportWidget');
      const model = service.modelOf(notebook);
      const widget = new ReportWidget({
        notebook,
        commands,
        view,
        place,
        context: {
          model,
          translator,
          trans,
          languages,
          reveal: source =>
            void revealer.reveal(source, model.report?.files ?? {}, notebook),
          selectedText: () => selectedText(notebook),
          runAgain: {
            isPossible: () => cellOf(notebook, model) >= 0,
            run: () => void runAgain(notebook, model, trans)
          }
        }
      });
      service.associate(widget, notebook);
      const save = () => {
        if (!widget.isDisposed) {
          void tracker.save(widget);
        }
      };
      // They go with the widget: the notebook lasts longer.
      notebook.context.pathChanged.connect(save, widget);
      widget.content.viewChanged.connect(save, widget);
      const inspected = model.subjects.find(
        subject => subject.subject.id === model.subject
      );
      const other = place === 0 ? panelOfNeighbor(notebook) : undefined;
      keepInView(notebook, inspected?.subject.cell, () =>
        shell.add(widget, 'main', {
          mode: other ? 'tab-after' : 'split-right',
          ref: (other ?? find(notebook, 0) ?? notebook).id,
          activate: false,
          type: 'Compilescope'
        })
      );
      await tracker.add(widget);
      if (other) {
        bringToFront(widget);
      } else if (isRestored && place === 0) {
        requestAnimationFrame(() => divide(notebook, widget, SHARE));
      }
      return widget;
    };

    const find = (notebook: NotebookPanel, place: number) =>
      tracker.find(
        reportWidget =>
          reportWidget.notebook === notebook && reportWidget.place === place
      );
    // Notebooks that share a tab bar share the place beside it: another column for
    // each would leave none of them wide enough.
    const panelOfNeighbor = (notebook: NotebookPanel) =>
      tracker.find(
        reportWidget =>
          reportWidget.place === 0 &&
          reportWidget.notebook !== notebook &&
          tabBarOf(reportWidget.notebook) === tabBarOf(notebook) &&
          tabBarOf(reportWidget) !== tabBarOf(notebook)
      );
    const free = (notebook: NotebookPanel) => {
      let place = 1;
      while (find(notebook, place)) {
        place++;
      }
      return place;
    };

    const opening = new Map<string, Promise<ReportWidget>>();
    const open = async (
      notebook: NotebookPanel,
      options: IOpenArguments & { activate: boolean }
    ) => {
      const { view, activate } = options;
      // Beside what is there; the first panel of a notebook is its own.
      const isBeside = options.beside && find(notebook, 0);
      const place = options.place ?? (isBeside ? free(notebook) : 0);
      let widget = find(notebook, place);
      if (!widget) {
        const key = `${notebook.id} ${place}`;
        const created = opening.get(key) ?? create(notebook, view, place);
        opening.set(key, created);
        widget = await created.finally(() => opening.delete(key));
      }
      if (view) {
        widget.content.open(view);
      }
      if (activate) {
        shell.activateById(widget.id);
      }
      return widget;
    };

    // The panel in front belongs to the notebook in front.
    notebooks.currentChanged.connect((_, notebook) => {
      const panel = notebook && find(notebook, 0);
      const shown = panel && tabBarOf(panel)?.currentTitle?.owner;
      if (panel && tracker.find(reportWidget => reportWidget === shown)) {
        bringToFront(panel);
      }
    });

    addViewCommands({
      commands,
      palette,
      trans,
      canOpen: () => notebooks.currentWidget !== null,
      open: args => {
        const notebook =
          args.path !== undefined
            ? notebooks.find(
                notebookPanel => notebookPanel.context.path === args.path
              )
            : (tracker.currentWidget?.isVisible &&
                shell.currentWidget === tracker.currentWidget &&
                tracker.currentWidget.notebook) ||
              notebooks.currentWidget;
        return notebook
          ? open(notebook, { ...args, activate: true })
          : undefined;
      }
    });

    if (menu) {
      addKernelUser({
        menu,
        commands,
        dialogs: dialogs ?? new SessionContextDialogs({ translator }),
        trans,
        current: () => shell.currentWidget,
        notebookOf: widget =>
          tracker.find(reportWidget => reportWidget === widget)?.notebook
      });
    }

    void restorer?.restore(tracker, {
      command: CommandIDs.openView,
      args: widget => ({
        path: widget.notebook.context.path,
        view: widget.content.view,
        place: widget.place
      }),
      name: widget => `${widget.notebook.context.path}#${widget.place}`,
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
      const notebook = notebooks.find(
        notebookPanel => notebookPanel === widget
      );
      if (openAfterCompile && notebook) {
        void open(notebook, { activate: false });
      }
    });
  }
};
