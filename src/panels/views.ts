import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';
import type { ISourcePosition, ISubjectModel } from '../tokens';

/**
 * The ids of the views.
 */
export type ViewId =
  | 'code'
  | 'graph'
  | 'timings'
  | 'sweep'
  | 'guards'
  | 'recompiles'
  | 'breaks'
  | 'compile-time'
  | 'requested'
  | 'kernels'
  | 'autotune';

/**
 * Where the syntax of generated code comes from: JupyterLab's registry, or as
 * much of one as a page of its own brings along.
 */
export type ILanguages = Pick<
  IEditorLanguageRegistry,
  'findByName' | 'findByExtension' | 'getLanguage'
>;

/**
 * What a view is made with.
 */
export interface IViewContext {
  readonly model: ISubjectModel;
  readonly translator: ITranslator;
  readonly trans: TranslationBundle;
  readonly languages: ILanguages;

  /**
   * Turn to another view of the same report.
   */
  readonly open: (view: ViewId) => void;

  /**
   * Show a line of the user's code where it stands: in its cell, or in its
   * file. Null where nothing can be opened (a report in a page of its own).
   */
  readonly reveal: ((source: ISourcePosition) => void) | null;

  /**
   * The text that is selected in the notebook's active cell, where there is a
   * notebook.
   */
  readonly selectedText?: () => string;
}

/**
 * A view of a report. Its code is loaded when it is first opened.
 */
export interface IView {
  readonly id: ViewId;
  readonly label: (trans: TranslationBundle) => string;
  readonly caption: (trans: TranslationBundle) => string;
  readonly create: (context: IViewContext) => Promise<Widget>;
}

/**
 * All views, in the order of their tabs.
 */
export const VIEWS: readonly IView[] = [
  {
    id: 'code',
    label: trans => trans.__('Code'),
    caption: trans => trans.__('Any two generated files side by side'),
    create: async context => new (await import('./code')).CodePanel(context)
  },
  {
    id: 'graph',
    label: trans => trans.__('Graph'),
    caption: trans => trans.__('Every stage of the graph, drawn'),
    create: async context => new (await import('./graph')).GraphView(context)
  },
  {
    id: 'timings',
    label: trans => trans.__('Timings'),
    caption: trans =>
      trans.__(
        'How long a call takes, where its time goes, and how sure that is'
      ),
    create: async context =>
      new (await import('./timings')).TimingsView(context)
  },
  {
    id: 'sweep',
    label: trans => trans.__('Sweep'),
    caption: trans =>
      trans.__('Many variants and shapes, and which of them is best'),
    create: async context => new (await import('./sweep')).SweepView(context)
  },
  {
    id: 'guards',
    label: trans => trans.__('Guards'),
    caption: trans =>
      trans.__('What is checked before a compilation is used again'),
    create: async context => new (await import('./guards')).GuardsView(context)
  },
  {
    id: 'recompiles',
    label: trans => trans.__('Recompiles'),
    caption: trans => trans.__('What was compiled again, and why'),
    create: async context =>
      new (await import('./recompiles')).RecompilesView(context)
  },
  {
    id: 'breaks',
    label: trans => trans.__('Graph breaks'),
    caption: trans => trans.__('Where a graph ended before its function did'),
    create: async context => new (await import('./breaks')).BreaksView(context)
  },
  {
    id: 'compile-time',
    label: trans => trans.__('Compile time'),
    caption: trans => trans.__('Where the time of the first call went'),
    create: async context =>
      new (await import('./compile-time')).CompileTimeView(context)
  },
  {
    id: 'requested',
    label: trans => trans.__('Requested and effective'),
    caption: trans =>
      trans.__('What each variant asked for, and what torch made of it'),
    create: async context =>
      new (await import('./requested')).RequestedView(context)
  },
  {
    id: 'kernels',
    label: trans => trans.__('Kernels'),
    caption: trans => trans.__('What one call launches'),
    create: async context =>
      new (await import('./kernels')).KernelsView(context)
  },
  {
    id: 'autotune',
    label: trans => trans.__('Autotune'),
    caption: trans =>
      trans.__('What torch chose by measuring, and why the others lost'),
    create: async context =>
      new (await import('./autotune')).AutotuneView(context)
  }
];
