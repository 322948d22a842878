import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { ISubjectModel } from '../../../src/interfaces/subject';
import { FailedRun } from '../../../src/notebook/failedRun';
import { report } from '../support/fakes';

describe('FailedRun', () => {
  const notebook = {} as Notebook;
  const cell = (source: string) =>
    ({ model: { sharedModel: { getSource: () => source } } }) as Cell;
  let model: { report: ReturnType<typeof report> | null };
  let failed: FailedRun;

  /** Run a cell, whose report is there once it ends. */
  function run(success: boolean, revision = 0, source = '%%compile\nf(x)') {
    const about = { notebook, cell: cell(source) };
    signalOf('executionScheduled').emit(about);
    if (revision) {
      model.report = { ...report('f'), revision };
    }
    signalOf('executed').emit({ ...about, success });
  }

  const signalOf = (name: 'executed' | 'executionScheduled') =>
    NotebookActions[name] as unknown as { emit: (args: object) => void };

  beforeEach(() => {
    model = { report: null };
    failed = new FailedRun(notebook, model as unknown as ISubjectModel);
  });

  afterEach(() => failed.dispose());

  it('is of a cell that failed while the report stays', () => {
    const listener = jest.fn();
    failed.changed.connect(listener);
    run(true, 1);
    expect(failed.isLast).toBe(false);
    run(false);
    expect(failed.isLast).toBe(true);
    run(false, 0, 'other cells do not matter');
    expect([failed.isLast, listener.mock.calls.length]).toEqual([true, 2]);
    run(true, 2);
    expect(failed.isLast).toBe(false);
  });

  it('is not of a cell whose report came before it failed', () => {
    run(true, 1);
    run(false, 2);
    expect(failed.isLast).toBe(false);
  });

  it('needs a report', () => {
    run(false);
    expect(failed.isLast).toBe(false);
  });
});
