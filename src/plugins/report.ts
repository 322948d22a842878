import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { Toolbar, WidgetTracker } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { URLExt } from '@jupyterlab/coreutils';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { ABCWidgetFactory, DocumentWidget } from '@jupyterlab/docregistry';
import { ServerConnection } from '@jupyterlab/services';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CommandToolbarButton } from '@jupyterlab/ui-components';
import { Panel } from '@lumino/widgets';
import { CommandIDs } from './modelCommands';
import { compilescopeIcon } from '../icons';
import { Revealer } from '../notebook/reveal';
import { About } from './about';
import { bar } from './bar';
import type { ReportDocument } from './reportDocument';
import type { ViewTarget } from '../panels/views';
import { ICompilescope } from '../tokens';

const FACTORY = 'Compilescope';
const FILE_TYPE = 'compilescope-report';

/**
 * Opens a report's file in the views.
 */
export const reportPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyterlab-compilescope:report',
  description: 'Opens the file of a report.',
  autoStart: true,
  requires: [ICompilescope, IEditorLanguageRegistry],
  optional: [ILayoutRestorer, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    service: ICompilescope,
    languages: IEditorLanguageRegistry,
    restorer: ILayoutRestorer | null,
    translatorOrNull: ITranslator | null
  ) => {
    const { commands, docRegistry, shell } = app;
    const translator = translatorOrNull ?? nullTranslator;
    const trans = translator.load('jupyterlab_compilescope');
    const complete = (path: string) =>
      completed(app.serviceManager.serverSettings, path);
    const revealer = new Revealer({
      commands,
      contents: app.serviceManager.contents,
      activate: id => shell.activateById(id),
      trans
    });
    docRegistry.addFileType({
      name: FILE_TYPE,
      displayName: trans.__('Compilescope Report'),
      extensions: ['.compilescope.json'],
      mimeTypes: ['application/json'],
      fileFormat: 'text',
      contentType: 'file',
      icon: compilescopeIcon
    });
    const factory = new ReportFactory({
      name: FACTORY,
      label: trans.__('Compilescope'),
      fileTypes: [FILE_TYPE, 'json'],
      defaultFor: [FILE_TYPE],
      modelName: 'text',
      readOnly: true,
      translator,
      load: async context => {
        const { ReportDocument } = await import('./reportDocument');
        return new ReportDocument(context, complete, {
          trans,
          translator,
          languages,
          reveal: (source, files) => void revealer.reveal(source, files, null)
        });
      },
      onLoad: (widget, report) => {
        service.adopt(widget, report.model, view =>
          report.shell.open(view as ViewTarget)
        );
        const about = new About(report.model, trans);
        widget.toolbar.addItem('about', bar(about, report.shell.pickers));
        widget.toolbar.addItem(
          'sidebar',
          new CommandToolbarButton({
            commands,
            id: CommandIDs.showSidebar,
            label: ''
          })
        );
      }
    });
    docRegistry.addWidgetFactory(factory);
    const tracker = new WidgetTracker<DocumentWidget<Panel>>({
      namespace: 'compilescope-report'
    });
    factory.widgetCreated.connect((_, widget) => {
      widget.title.icon = compilescopeIcon;
      widget.context.pathChanged.connect(() => void tracker.save(widget));
      void tracker.add(widget);
    });
    void restorer?.restore(tracker, {
      command: 'docmanager:open',
      args: widget => ({ path: widget.context.path, factory: FACTORY }),
      name: widget => widget.context.path
    });
  }
};

/**
 * Ask the server for a report's file as this version saves it.
 */
async function completed(
  settings: ServerConnection.ISettings,
  path: string
): Promise<string> {
  const response = await ServerConnection.makeRequest(
    URLExt.join(settings.baseUrl, 'compilescope', 'report'),
    { method: 'POST', body: JSON.stringify({ path }) },
    settings
  );
  if (!response.ok) {
    throw new ServerConnection.ResponseError(response);
  }
  return response.text();
}

/**
 * Makes the widgets of reports' files.
 */
class ReportFactory extends ABCWidgetFactory<DocumentWidget<Panel>> {
  constructor(private _options: IFactoryOptions) {
    super(_options);
  }

  protected createNewWidget(
    context: DocumentRegistry.Context
  ): DocumentWidget<Panel> {
    const content = new Panel();
    content.addClass('jp-Compilescope-documentHost');
    const open = async () => {
      await context.ready;
      const report = await this._options.load(context);
      if (content.isDisposed) {
        report.dispose();
        return;
      }
      content.addWidget(report);
      this._options.onLoad(widget, report);
    };
    const widget = new DocumentWidget({
      content,
      context,
      reveal: open(),
      toolbar: new Toolbar({ noFocusOnClick: true }),
      translator: this.translator
    });
    widget.addClass('jp-Compilescope-main');
    return widget;
  }
}

interface IFactoryOptions extends DocumentRegistry.IWidgetFactoryOptions<
  DocumentWidget<Panel>
> {
  load: (context: DocumentRegistry.Context) => Promise<ReportDocument>;
  onLoad: (widget: DocumentWidget<Panel>, report: ReportDocument) => void;
}
