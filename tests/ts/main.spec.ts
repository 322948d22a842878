import type { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { SubjectModel } from '../../src/model/subject';
import { ReportWidget } from '../../src/plugins/reportWidget';
import type { IViewContext } from '../../src/panels/views';

describe('ReportWidget', () => {
  it('tells that it was closed, so that it can be opened again', () => {
    const notebook = new Widget() as NotebookPanel;
    const context = { path: 'a/b.ipynb', pathChanged: new Signal({}) };
    Object.assign(notebook, { context });
    const model = new SubjectModel();
    const widget = new ReportWidget({
      notebook,
      commands: new CommandRegistry(),
      context: {
        model,
        translator: nullTranslator,
        trans: nullTranslator.load('')
      } as unknown as IViewContext
    });
    const parts = [widget, widget.content, widget.content.pickers];
    const disposed: Widget[] = [];
    parts.forEach(part =>
      part.disposed.connect(sender => disposed.push(sender))
    );
    widget.close();
    expect(disposed).toHaveLength(parts.length);
    expect(disposed).toEqual(expect.arrayContaining(parts));
    widget.dispose();
    model.dispose();
    notebook.dispose();
  });
});
