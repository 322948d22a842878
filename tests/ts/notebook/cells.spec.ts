import { Notification } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import type { IOutput } from '@jupyterlab/nbformat';
import type { Notebook, NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import { OutputAreaModel } from '@jupyterlab/outputarea';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { runAgain } from '../../../src/notebook/runAgain';
import { cellsWith, fileOf } from '../../../src/notebook/cells';
import { isLinked } from '../../../src/notebook/lines';
import { selectSubject } from '../../../src/notebook/outputs';
import { endProgress } from '../../../src/notebook/progress';
import type { JobState, Region } from '../../../src/protocol/types';
import type { IStatus } from '../../../src/interfaces/status';
import type { ISubjectModel } from '../../../src/interfaces/subject';
import { job, report, variantSummary } from '../support/fakes';
import { compilationSummary } from '../support/structs';

function cell(source: string, type = 'code'): Cell {
  return {
    model: { type, sharedModel: { getSource: () => source } }
  } as unknown as Cell;
}

describe('cellsWith', () => {
  it('finds the code cells whose text is the whole file', () => {
    const [other, text, whole] = [
      cell('%%compile\nf(x, y)'),
      cell('%%compile\nf(x)', 'markdown'),
      cell('%%compile\nf(x)')
    ];
    const notebook = { widgets: [other, text, whole] } as unknown as Notebook;
    expect(cellsWith(notebook, '%%compile\nf(x)\n')).toEqual([whole]);
  });
});

const trans = nullTranslator.load('jupyterlab_compilescope');

/** What is notified while something is done. */
async function notified(act: () => void | Promise<void>): Promise<string[]> {
  Notification.dismiss();
  await act();
  const messages = Notification.manager.notifications.map(
    ({ message }) => message
  );
  Notification.dismiss();
  return messages;
}

describe('selectSubject', () => {
  const modelOf = (kind: IStatus['kind']) =>
    ({
      subject: 'other',
      subjects: [{ subject: { id: 'known' } }],
      status: { kind }
    }) as unknown as ISubjectModel;

  it('selects a subject that the kernel knows', async () => {
    const model = modelOf('ready');
    const said = await notified(() => selectSubject(model, 'known', trans));
    expect([model.subject, said]).toEqual(['known', []]);
  });

  it('says that a restarted kernel knows it no more', async () => {
    const model = modelOf('ready');
    const said = await notified(() => selectSubject(model, 'old', trans));
    expect(said).toEqual([expect.stringContaining('the kernel was restarted')]);
    expect(model.subject).toBe('other');
  });

  it('says nothing before the kernel has answered', async () => {
    const model = modelOf('connecting');
    expect(await notified(() => selectSubject(model, 'old', trans))).toEqual(
      []
    );
  });
});

describe('runAgain', () => {
  it('says which cell above failed, and goes there', async () => {
    const above = jest
      .spyOn(NotebookActions, 'runAllAbove')
      .mockResolvedValue(false);
    const run = jest.spyOn(NotebookActions, 'run').mockResolvedValue(true);
    const outputs = (...types: object[]) => ({
      length: types.length,
      get: (at: number) => ({ toJSON: () => types[at] })
    });
    const cell = (executionCount: number, ...types: object[]) => ({
      model: { type: 'code', executionCount, outputs: outputs(...types) }
    });
    const content = {
      widgets: [
        { model: { type: 'markdown' } },
        cell(4, { output_type: 'stream' }),
        cell(5, { output_type: 'error', ename: 'NameError' }),
        { model: { id: 'c1' } }
      ],
      deselectAll: jest.fn(),
      scrollToItem: jest.fn(),
      activeCellIndex: -1
    };
    const model = {
      report: { subject: { cell: 'c1' } },
      isLive: false,
      status: { kind: 'ready' }
    } as unknown as ISubjectModel;
    const notebook = {
      content,
      sessionContext: {}
    } as unknown as NotebookPanel;
    const said = await notified(() => runAgain(notebook, model, trans));
    expect(said).toEqual([
      expect.stringContaining('Cell [5] failed with NameError')
    ]);
    expect(content.activeCellIndex).toBe(2);
    expect(run).not.toHaveBeenCalled();
    above.mockRestore();
    run.mockRestore();
  });

  it('loads the extension into a kernel that was restarted for it', async () => {
    const above = jest
      .spyOn(NotebookActions, 'runAllAbove')
      .mockResolvedValue(true);
    const run = jest.spyOn(NotebookActions, 'run').mockResolvedValue(true);
    const statusChanged = new Signal<object, void>({});
    const model = {
      report: { subject: { cell: 'c1' } },
      isLive: false,
      status: { kind: 'dead' },
      statusChanged,
      load: jest.fn()
    };
    const become = (kind: string) => {
      model.status = { kind };
      statusChanged.emit();
    };
    const restartKernel = () => Promise.resolve(become('connecting'));
    const done = runAgain(
      {
        content: { widgets: [{ model: { id: 'c1' } }], deselectAll: jest.fn() },
        sessionContext: { restartKernel }
      } as unknown as NotebookPanel,
      model as unknown as ISubjectModel,
      trans
    );
    await new Promise(resolve => setTimeout(resolve));
    expect(above).not.toHaveBeenCalled();
    become('busy');
    become('unloaded');
    await done;
    expect(model.load).toHaveBeenCalledTimes(1);
    expect(run).toHaveBeenCalledTimes(1);
    above.mockRestore();
    run.mockRestore();
  });
});

describe('fileOf', () => {
  const files = { 'old.py': 'f(x)\n', 'other.py': 'g()', 'new.py': 'f(x)' };

  it('is the last file with the text of the cell', () => {
    expect(fileOf(cell('f(x)'), files)).toBe('new.py');
  });

  it('is none once the cell was edited', () => {
    expect(fileOf(cell('f(x) '), files)).toBeNull();
  });
});

describe('isLinked', () => {
  const region = (line: number) =>
    ({ sources: [{ file: 'a.py', line }] }) as unknown as Region;
  const artifact = (name: string) => ({
    name,
    label: name,
    group: 'code' as const,
    language: 'python',
    lines: 1,
    forms: [],
    configs: []
  });
  const variant = (name: string, artifacts: string[]) =>
    variantSummary(
      name,
      {},
      {
        compilations: [
          compilationSummary({ artifacts: artifacts.map(artifact) })
        ]
      }
    );

  it('looks into the wrappers of both sides, and survives one missing', async () => {
    const getArtifact = jest.fn((name: string, _: string, file: string) =>
      name === 'cpp'
        ? Promise.resolve({ regions: [region(3)] })
        : Promise.reject(new Error(file))
    );
    const model = {
      report: report('f', {
        variants: [
          variant('python', ['python', 'graph.post_grad']),
          variant('cpp', ['cpp'])
        ]
      }),
      compilation: '0/0',
      selectedVariants: { left: 'python', right: 'cpp' },
      getArtifact
    } as unknown as ISubjectModel;
    await expect(isLinked(model, 'a.py', 3)).resolves.toBe(true);
    await expect(isLinked(model, 'a.py', 4)).resolves.toBe(false);
    expect(getArtifact.mock.calls.map(call => call[2])).not.toContain(
      'graph.post_grad'
    );
  });
});

describe('endProgress', () => {
  const output = (html: string, metadata = {}): IOutput => ({
    output_type: 'display_data',
    data: { 'text/html': html },
    metadata
  });
  const PROGRESS = output('<progress>', { compilescope: 'unfinished' });
  const REPORT = output('<table>');

  /**
   * A notebook that is open, and what its outputs are in the end.
   */
  function notebook(...values: IOutput[]) {
    const area = new OutputAreaModel({ trusted: true });
    const context = {
      statusChanged: new Signal<object, string>({}),
      kernelChanged: new Signal<object, { oldValue: object | null }>({}),
      ready: Promise.resolve()
    };
    const kernel = {
      status: { kind: 'connecting' } as IStatus,
      job: null as JobState | null,
      statusChanged: new Signal<object, IStatus>({}),
      jobChanged: new Signal<object, JobState | null>({})
    };
    const panel = {
      content: { model: { cells: [{ type: 'code', outputs: area }] } },
      context: { ready: Promise.resolve() },
      sessionContext: context
    };
    const connected = jest.fn(() => kernel as unknown as ISubjectModel);
    const open = async () => {
      endProgress(
        panel as unknown as NotebookPanel,
        connected,
        nullTranslator.load('jupyterlab_compilescope')
      );
      await new Promise(resolve => setTimeout(resolve));
    };
    const add = () => values.forEach(value => area.add(value));
    const outputs = () => area.toJSON();
    return { ...context, kernel, connected, open, add, outputs };
  }

  /**
   * What an inspection that began after the notebook was opened shows.
   */
  async function running(...values: IOutput[]) {
    const shown = notebook(...values);
    await shown.open();
    shown.add();
    return shown;
  }

  /**
   * What a notebook's file has as it is opened.
   */
  async function opened(...values: IOutput[]) {
    const shown = notebook(...values);
    shown.add();
    await shown.open();
    return shown;
  }

  it.each([
    ['restarting', 'The kernel was restarted before'],
    ['autorestarting', 'The kernel died before'],
    ['dead', 'The kernel died before']
  ])('says so in the output when a kernel is %s', async (status, text) => {
    const { statusChanged, outputs } = await running(REPORT, PROGRESS);
    statusChanged.emit('busy');
    expect(outputs()).toEqual([REPORT, PROGRESS]);
    statusChanged.emit(status);
    const [report, ended] = outputs();
    expect(report).toEqual(REPORT);
    expect(ended.data).toEqual({ 'text/plain': expect.stringContaining(text) });
    expect(ended.metadata).toEqual({});
  });

  it('ends it with the kernel that was shut down, not as a page connects', async () => {
    const { kernelChanged, outputs } = await running(PROGRESS);
    kernelChanged.emit({ oldValue: null });
    expect(outputs()).toEqual([PROGRESS]);
    kernelChanged.emit({ oldValue: {} });
    expect(JSON.stringify(outputs())).toContain('was shut down before');
  });

  const ENDED = 'before the inspection finished. The panel shows';

  it.each(['none', 'dead', 'missing', 'unloaded'] as const)(
    'ends what the file has where the kernel is %s',
    async kind => {
      const { kernel, connected, outputs } = await opened(REPORT, PROGRESS);
      expect(connected).toHaveBeenCalledTimes(1);
      expect(outputs()).toEqual([REPORT, PROGRESS]);
      kernel.status = { kind };
      kernel.statusChanged.emit(kernel.status);
      const [report, ended] = outputs();
      expect(report).toEqual(REPORT);
      expect(JSON.stringify(ended)).toContain(ENDED);
    }
  );

  it('leaves what the file has until the kernel has inspected what it does', async () => {
    const { kernel, outputs } = await opened(PROGRESS);
    kernel.status = { kind: 'ready' };
    kernel.job = job({ state: 'running' });
    kernel.statusChanged.emit(kernel.status);
    expect(outputs()).toEqual([PROGRESS]);
    kernel.job = job({ state: 'done' });
    kernel.jobChanged.emit(kernel.job);
    expect(JSON.stringify(outputs())).toContain(ENDED);
  });

  it('asks no kernel of a notebook without progress, nor ends what begins later', async () => {
    const { kernel, connected, add, outputs } = await opened(REPORT);
    expect(connected).not.toHaveBeenCalled();
    add();
    const later = await opened(PROGRESS);
    later.add();
    later.kernel.status = { kind: 'ready' };
    later.kernel.statusChanged.emit(later.kernel.status);
    expect(later.outputs()[1]).toEqual(PROGRESS);
    expect(JSON.stringify(later.outputs()[0])).toContain(ENDED);
    kernel.statusChanged.emit({ kind: 'ready' });
    expect(outputs()).toEqual([REPORT, REPORT]);
  });
});
