import type { NotebookPanel } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';
import type { ISubjectModel } from './interfaces/subject';

/**
 * The models of all kernels, and the one that the user works with.
 */
export interface ICompilescope {
  /**
   * The model of the current notebook or console.
   */
  readonly current: ISubjectModel | null;
  readonly currentChanged: ISignal<ICompilescope, ISubjectModel | null>;

  /**
   * Emitted when a cell was inspected, with its notebook or console.
   */
  readonly inspected: ISignal<ICompilescope, Widget>;

  /**
   * Whether a view shows the current model; its kernel is then connected.
   */
  isWatched: boolean;

  /**
   * The model of a notebook.
   *
   * @param connect - Whether its kernel is connected if it is not yet.
   */
  modelOf(notebook: NotebookPanel, connect?: boolean): ISubjectModel;

  /**
   * Associate a view with a notebook, which counts as current while the view is.
   */
  associate(view: Widget, notebook: NotebookPanel): void;

  /**
   * Associate a view with a model of its own (that of a report's file), which is the
   * current model while the view is current.
   *
   * @param open - Opens a view of the model's report, by its id.
   */
  adopt(view: Widget, model: ISubjectModel, open: (view: string) => void): void;

  /**
   * Open a view of the current report if the report has its own widget, as a
   * file has.
   *
   * @returns Whether it does.
   */
  openView(view: string): boolean;
}

/**
 * The service that follows kernels.
 */
export const ICompilescope = new Token<ICompilescope>(
  'jupyterlab-compilescope:ICompilescope',
  'What torch.compile made of the code in the current notebook or console.'
);
