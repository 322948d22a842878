import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { download } from '../download';
import { SubjectModel } from '../model/subject';
import { PortConnection } from '../protocol/port';
import type { IAppearance, ToPanel } from '../protocol/portMessages';
import { Sidebar } from '../panels/sidebar';
import { FillSwitch } from './fillSwitch';
import { fillPage } from './frame';
import { Header } from './header';
import { setDark } from './setTheme';
import { whenConnected } from './port';
import { shellOf } from './shell';

/**
 * Show what a kernel has, over the port that whoever shows this page sends.
 */
export function showLive(): void {
  whenConnected(fill);
}

function fill(port: MessagePort, appearance: IAppearance): void {
  const trans = nullTranslator.load('jupyterlab_compilescope');
  const model = new SubjectModel();
  const shell = shellOf(model, trans);
  const sidebar = new Sidebar({
    service: new OneKernel(model),
    openView: view => shell.open(view),
    save: async format => {
      const { filename, text } = await model.save(format);
      download(filename, text);
    }
  });
  sidebar.addClass('jp-Compilescope-page-aside');
  setDark(appearance.isDark);
  port.addEventListener('message', ({ data }: MessageEvent) => {
    const message = data as ToPanel;
    if (message.kind === 'appearance') {
      setDark(message.appearance.isDark);
    }
  });
  fillPage(
    [
      new Header({ model, created: '', trans }),
      shell.pickers,
      new FillSwitch(port, appearance, trans)
    ],
    sidebar,
    shell,
    true
  );
  model.connection = new PortConnection(port);
}

/**
 * The one kernel of this page, as the sidebar follows them.
 */
class OneKernel implements Sidebar.IService {
  constructor(readonly current: SubjectModel) {}

  readonly currentChanged = new Signal<OneKernel, SubjectModel>(this);
  isWatched = true;
}
