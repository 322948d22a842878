import '@lumino/widgets/style/index.css';
import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Panel, SplitPanel, Widget } from '@lumino/widgets';
import '../../style/index.css';
import '../../style/page.css';
import { fromText, setWorkerFactory } from '../graph/worker/factory';
import { FileConnection, readReport } from '../model/file';
import { SubjectModel } from '../model/subject';
import type { ITraceAnswer } from '../model/trace';
import { readShown, TraceConnection } from '../model/trace';
import { problem, RequestError } from '../protocol/client';
import type { IConnection } from '../protocol/connection';
import type { Request } from '../protocol/types';
import { ReportShell } from '../panels/shell';
import { loadView } from '../panels/loaders';
import { VIEWS } from '../panels/views';
import { Aside } from './aside';
import { Header } from './header';
import { languages } from './languages';
import { Theme } from './theme';
import { ThemeSwitch } from './switch';

/**
 * Below this width, in pixels, the views stand below the variants.
 */
const STACK_BELOW = 900;

/**
 * The text of an element of the page.
 */
function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? '';
}

/**
 * Asks the server of this page, which reads a trace.
 *
 * @param address - Relative to the page's.
 */
async function post(address: string, request: Request): Promise<ITraceAnswer> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request)
    });
    if (!response.ok) {
      throw new Error(`${response.status} ${response.statusText}`);
    }
    return (await response.json()) as ITraceAnswer;
  } catch (error) {
    throw new RequestError(
      problem({
        what: 'The server of this page does not answer',
        why: (error as Error).message,
        remedy: 'Run compilescope open again.'
      }),
      'closed'
    );
  }
}

/**
 * A report as a page of its own. The script that lays out its graphs stands in
 * the page, and so does the report, unless the page is served with a trace.
 */
function show(): void {
  const trans = nullTranslator.load('jupyterlab_compilescope');
  const requests = textOf('requests');
  const report = requests ? null : readReport(textOf('report'));
  const connection: IConnection = report
    ? new FileConnection(report)
    : new TraceConnection(request => post(requests, request));
  setWorkerFactory(fromText(textOf('layout-worker')));
  const model = new SubjectModel();
  const shell = new ReportShell({
    views: VIEWS,
    load: loadView,
    context: {
      model,
      translator: nullTranslator,
      trans,
      languages,
      reveal: null
    }
  });
  const created = report?.created ?? '';
  const header = new Panel();
  header.addClass('jp-Compilescope-page-top');
  header.addWidget(new Header({ model, created, trans }));
  header.addWidget(shell.pickers);
  header.addWidget(new ThemeSwitch(new Theme(), trans));
  const split = new SplitPanel();
  split.addClass('jp-Compilescope-page-body');
  split.addWidget(new Aside(model, trans));
  split.addWidget(shell);
  const page = new Panel();
  page.addClass('jp-Compilescope-page');
  page.addWidget(header);
  page.addWidget(split);
  Widget.attach(page, document.body);
  const arrange = () => {
    const isNarrow = window.innerWidth < STACK_BELOW;
    split.orientation = isNarrow ? 'vertical' : 'horizontal';
    split.setRelativeSizes(isNarrow ? [1, 3] : [1, 4]);
    page.update();
  };
  window.addEventListener('resize', arrange);
  // What the split is left with changes with the header too, once it has text.
  new ResizeObserver(() =>
    MessageLoop.postMessage(split, Widget.ResizeMessage.UnknownSize)
  ).observe(split.node);
  arrange();
  if (!report) {
    readShown(model);
  }
  model.connection = connection;
}

show();
