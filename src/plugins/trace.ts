import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer, IRouter } from '@jupyterlab/application';
import { MainAreaWidget, Toolbar, WidgetTracker } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { PathExt, URLExt } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { FileDialog, IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { compilescopeIcon } from '../icons';
import type { ITraceAnswer } from '../model/trace';
import { readShown, TraceConnection } from '../model/trace';
import { Revealer } from '../notebook/reveal';
import { problem, RequestError } from '../protocol/client';
import type { Request } from '../protocol/types';
import type { ViewTarget } from '../panels/views';
import { ICompilescope } from '../tokens';
import { About } from './about';
import { bar } from './bar';
import { CommandIDs } from './modelCommands';
import type { ReportPanel } from './reportPanel';

/**
 * What torch calls its logs, plain and compressed.
 */
const LOG = /\.log(\.\d+)?(\.gz|\.zst)?$/;

/**
 * What an address names a trace by that is opened at once: `compilescope open
 * --lab` does.
 */
const ADDRESS_PARAMETER = 'compilescope-open';

/**
 * Opens traces of the file browser: logs of TORCH_TRACE, and folders of them.
 */
export const tracePlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-compilescope:trace',
  description: 'Opens logs of TORCH_TRACE from the file browser.',
  autoStart: true,
  requires: [ICompilescope, IEditorLanguageRegistry],
  optional: [
    IFileBrowserFactory,
    IDocumentManager,
    ILayoutRestorer,
    IRouter,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    service: ICompilescope,
    languages: IEditorLanguageRegistry,
    browsers: IFileBrowserFactory | null,
    documents: IDocumentManager | null,
    restorer: ILayoutRestorer | null,
    router: IRouter | null,
    translatorOrNull: ITranslator | null
  ) => {
    const { commands, shell, serviceManager } = app;
    const translator = translatorOrNull ?? nullTranslator;
    const trans = translator.load('jupyterlab_compilescope');
    const tracker = new WidgetTracker<MainAreaWidget<ReportPanel>>({
      namespace: 'compilescope-trace'
    });
    const paths = new WeakMap<MainAreaWidget<ReportPanel>, string>();
    const chosen = () => {
      const items = [
        ...(browsers?.tracker.currentWidget?.selectedItems() ?? [])
      ];
      return items.length === 1 &&
        (items[0].type === 'directory' || LOG.test(items[0].path))
        ? items[0].path
        : null;
    };
    const create = async (path: string) => {
      const { ReportPanel } = await import('./reportPanel');
      const revealer = new Revealer({
        commands,
        contents: serviceManager.contents,
        activate: id => shell.activateById(id),
        trans
      });
      const content = new ReportPanel({
        trans,
        translator,
        languages,
        // What a trace of thousands of compilations is opened for.
        view: 'trace',
        chooseTrace: documents
          ? () =>
              chooseTrace(documents, PathExt.dirname(path), translator, trans)
          : undefined,
        reveal: (source, files) => void revealer.reveal(source, files, null)
      });
      readShown(content.model);
      const widget = new MainAreaWidget({
        content,
        toolbar: new Toolbar({ noFocusOnClick: true }),
        translator
      });
      widget.id = `jp-Compilescope-trace-${encodeURIComponent(path)}`;
      widget.addClass('jp-Compilescope-main');
      widget.title.icon = compilescopeIcon;
      widget.title.label = PathExt.basename(path) || path;
      widget.title.caption = trans.__('Trace: %1', path);
      widget.title.closable = true;
      widget.toolbar.addItem(
        'about',
        bar(new About(content.model, trans), content.shell.pickers)
      );
      paths.set(widget, path);
      service.adopt(widget, content.model, view =>
        content.shell.open(view as ViewTarget)
      );
      shell.add(widget, 'main');
      await tracker.add(widget);
      content.lookAt(
        new TraceConnection(request =>
          post(serviceManager.serverSettings, path, request)
        )
      );
      return widget;
    };
    // By path: the layout and the address may ask for one at the same time.
    const opening = new Map<string, ReturnType<typeof create>>();
    const open = async (path: string) => {
      const opened = tracker.find(widget => paths.get(widget) === path);
      if (opened) {
        shell.activateById(opened.id);
        return opened;
      }
      const created = opening.get(path) ?? create(path);
      opening.set(path, created);
      return created.finally(() => opening.delete(path));
    };
    commands.addCommand(CommandIDs.openTrace, {
      label: trans.__('Open with Compilescope'),
      caption: trans.__(
        'Open a log that torch wrote to TORCH_TRACE, or a folder of logs'
      ),
      icon: compilescopeIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: {
              type: 'string',
              description: trans.__(
                'The path of a log or folder; without it, what is selected in the file browser'
              )
            }
          }
        }
      },
      isVisible: args => typeof args.path === 'string' || chosen() !== null,
      execute: async args => {
        const path = typeof args.path === 'string' ? args.path : chosen();
        return path === null ? null : open(path);
      }
    });
    if (router) {
      commands.addCommand(CommandIDs.openAsked, {
        label: trans.__('Open the trace that the address names'),
        describedBy: { args: { type: 'object' } },
        execute: () => {
          const { path, search, hash } = router.current;
          const query = new URLSearchParams(search);
          const asked = query.get(ADDRESS_PARAMETER);
          query.delete(ADDRESS_PARAMETER);
          const rest = query.size > 0 ? `?${query}` : '';
          // Opened once: the layout has it from then on.
          router.navigate(`${path}${rest}${hash}`, { skipRouting: true });
          if (asked) {
            void app.restored.then(() => open(asked));
          }
        }
      });
      router.register({
        command: CommandIDs.openAsked,
        pattern: new RegExp(`[?&]${ADDRESS_PARAMETER}=`),
        rank: 20
      });
    }
    void restorer?.restore(tracker, {
      command: CommandIDs.openTrace,
      args: widget => ({ path: paths.get(widget) ?? '' }),
      name: widget => paths.get(widget) ?? ''
    });
  }
};

/**
 * Have the user choose a log, or a folder of logs.
 */
async function chooseTrace(
  manager: IDocumentManager,
  defaultPath: string,
  translator: ITranslator,
  trans: TranslationBundle
): Promise<string | null> {
  const { button, value } = await FileDialog.getOpenFiles({
    manager,
    defaultPath,
    translator,
    title: trans.__('Compare with a log, or a folder of logs'),
    filter: ({ type, name }) =>
      type === 'directory' || LOG.test(name) ? {} : null
  });
  return button.accept && value?.length ? value[0].path : null;
}

/**
 * Ask the server, which reads the trace.
 */
async function post(
  settings: ServerConnection.ISettings,
  path: string,
  request: Request
): Promise<ITraceAnswer> {
  const response = await ServerConnection.makeRequest(
    URLExt.join(settings.baseUrl, 'compilescope', 'trace'),
    { method: 'POST', body: JSON.stringify({ path, request }) },
    settings
  );
  if (response.ok) {
    return (await response.json()) as ITraceAnswer;
  }
  throw new RequestError(
    problem(
      response.status === 404 || response.status === 405
        ? {
            what: 'The server does not read traces, or has no such file',
            why: `It answered ${response.status}: its extension jupyterlab_compilescope may not be enabled.`,
            remedy:
              'Run “jupyter server extension enable jupyterlab_compilescope”, and start JupyterLab again.'
          }
        : {
            what: 'The server could not read the trace',
            why: `It answered ${response.status} ${response.statusText}`,
            remedy: 'The server’s log says why.'
          }
    ),
    'closed'
  );
}
