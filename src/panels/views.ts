import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';
import type { ISourcePosition } from '../interfaces/selection';
import type { ISubjectModel } from '../interfaces/subject';
import { ILanguages } from '../code/editor/languages';

/**
 * The ids of the views, stored in layouts and links.
 */
export type ViewId = (typeof RECORDS)[number]['id'];

/**
 * What to open: a view, or a section of a view. Layouts, commands and the
 * kernel's messages may use the names of either.
 */
export type ViewTarget = ViewId | keyof typeof SECTIONS;

/**
 * The groups of views in the tab bar: the generated code, its speed, the causes
 * of either. Views of `more` are used less often.
 */
export type ViewGroup = 'result' | 'speed' | 'causes' | 'more';

/**
 * The context of a view.
 */
export interface IViewContext {
  readonly model: ISubjectModel;
  readonly translator: ITranslator;
  readonly trans: TranslationBundle;
  readonly languages: ILanguages;

  /**
   * Opens another view of the same report.
   */
  readonly open: (target: ViewTarget) => void;

  /**
   * Shows a line of the user's code where it is: in its cell, or in its file.
   * Null where nothing can be opened (a report on its own page).
   */
  readonly reveal: ((source: ISourcePosition) => void) | null;

  /**
   * Asks the user for another trace, and resolves to its path; null if the user
   * cancels. Only where files are accessible.
   */
  readonly chooseTrace?: () => Promise<string | null>;

  /**
   * The text that is selected in the notebook's active cell, if there is a
   * notebook.
   */
  readonly selectedText?: () => string;

  /**
   * Runs the report's cell again, if there is a notebook.
   */
  readonly runAgain?: {
    /**
     * Whether the cell still exists.
     */
    readonly isPossible: () => boolean;
    readonly run: () => void;
  };
}

/**
 * Creates a view.
 */
export type LoadView = (id: ViewId, context: IViewContext) => Promise<Widget>;

/**
 * A view of a report, as a tab and a menu entry.
 */
export interface IView extends IViewRecord {
  readonly id: ViewId;
}

/**
 * The same before the ids are known, which come from the records.
 */
interface IViewRecord {
  readonly id: string;
  readonly group: ViewGroup;
  readonly label: (trans: TranslationBundle) => string;

  /**
   * The label of a tab if space is limited; by default the same.
   */
  readonly shortLabel?: (trans: TranslationBundle) => string;
  readonly caption: (trans: TranslationBundle) => string;

  /**
   * The fields of a report, its variants and compilations that the view shows,
   * and why they may be empty. If all are empty, the tab is dimmed.
   */
  readonly about?: readonly string[];
  readonly nothing?: (trans: TranslationBundle) => string;

  /**
   * What it lists of all compilations, or of one.
   */
  readonly lists?: 'guards' | 'kernels';

  /**
   * Whether it can have what it is about made, where there is a kernel.
   */
  readonly makes?: boolean;

  /**
   * The label in menus, if it differs from the tab's.
   */
  readonly menuLabel?: (trans: TranslationBundle) => string;

  /**
   * Whether a view of the group `more` has a tab once a report has data for it.
   * Otherwise it has a tab only while it is open.
   */
  readonly isTabWhenFilled?: boolean;
}

/**
 * A view that has sections to scroll to.
 */
export interface ISectioned {
  showSection(section: string): void;
}

/**
 * A section that can be opened by its own name, and its view.
 */
const SECTIONS = {
  breaks: { view: 'recompiles', section: 'breaks' },
  shapes: { view: 'recompiles', section: 'shapes' },
  verdict: { view: 'timings', section: 'verdict' },
  layers: { view: 'timings', section: 'layers' },
  accuracy: { view: 'timings', section: 'accuracy' }
} as const;

/**
 * The view and the section of a name; null if there is none.
 */
export function resolve(
  target: unknown
): { view: ViewId; section?: string } | null {
  const section = Object.entries(SECTIONS).find(([name]) => name === target);
  if (section) {
    return section[1];
  }
  const record = VIEWS.find(view => view.id === target);
  // The first section is where the view begins.
  return record ? { view: record.id, section: record.id } : null;
}

/**
 * All names by which a view can be opened.
 */
export function targets(): readonly string[] {
  return [...VIEWS.map(view => view.id), ...Object.keys(SECTIONS)];
}

const RECORDS = [
  {
    id: 'overview',
    group: 'result',
    label: trans => trans.__('Overview'),
    caption: trans => trans.__('The result, what limits it, and what to change')
  },
  {
    id: 'code',
    group: 'result',
    label: trans => trans.__('Code'),
    caption: trans => trans.__('Any two generated files side by side'),
    about: ['kernels', 'graphs'],
    nothing: trans => trans.__('Nothing was compiled')
  },
  {
    id: 'graph',
    group: 'result',
    label: trans => trans.__('Graph'),
    caption: trans => trans.__('Every stage of the graph, drawn'),
    about: ['graphs'],
    nothing: trans => trans.__('There is no graph')
  },
  {
    id: 'kernels',
    group: 'result',
    label: trans => trans.__('Kernels'),
    caption: trans => trans.__('What the compiled code launches'),
    about: ['kernels'],
    lists: 'kernels',
    nothing: trans => trans.__('Nothing is launched')
  },
  {
    id: 'timings',
    group: 'speed',
    label: trans => trans.__('Timings'),
    caption: trans =>
      trans.__('Latency, speedup, and where the time of a call goes'),
    about: ['timing', 'layers', 'startups', 'accuracy'],
    nothing: trans => trans.__('Nothing was timed'),
    makes: true
  },
  {
    id: 'compile-time',
    group: 'speed',
    label: trans => trans.__('Compile time'),
    shortLabel: trans => trans.__('Compile'),
    caption: trans => trans.__('Where the time of the first call goes'),
    about: ['phases', 'compile_time'],
    nothing: trans => trans.__('No compilation was timed')
  },
  {
    id: 'guards',
    group: 'causes',
    label: trans => trans.__('Guards'),
    caption: trans =>
      trans.__('What is checked before a compilation is reused'),
    about: ['guards'],
    lists: 'guards',
    nothing: trans => trans.__('There are no guards')
  },
  {
    id: 'recompiles',
    group: 'causes',
    label: trans => trans.__('Recompiles & breaks'),
    shortLabel: trans => trans.__('Rec. & breaks'),
    caption: trans =>
      trans.__(
        'Recompiles and graph breaks, with their causes and fixes; dynamic sizes'
      ),
    about: ['recompile', 'breaks', 'symbols', 'shape_decisions'],
    nothing: trans =>
      trans.__('No recompiles, no graph breaks and no dynamic sizes')
  },
  {
    id: 'requested',
    group: 'causes',
    label: trans => trans.__('Settings'),
    caption: trans =>
      trans.__('Requested and effective settings of each variant')
  },
  {
    id: 'wrappers',
    group: 'more',
    label: trans => trans.__('Wrappers'),
    caption: trans =>
      trans.__('The steps of both wrappers in a call, with their cost'),
    about: ['steps'],
    nothing: trans => trans.__('No wrapper was generated')
  },
  {
    id: 'changes',
    group: 'more',
    label: trans => trans.__('Changes'),
    caption: trans => trans.__('What a variant changed in the code, and why'),
    about: ['changes'],
    nothing: trans =>
      trans.__('Nothing to compare: it needs two variants for the same device')
  },
  {
    id: 'memory',
    group: 'more',
    label: trans => trans.__('Memory'),
    caption: trans => trans.__('Buffers of a call: sizes, lifetimes, reuse'),
    about: ['memory'],
    nothing: trans => trans.__('No wrapper was generated')
  },
  {
    id: 'sweep',
    group: 'more',
    label: trans => trans.__('Compare & deploy'),
    menuLabel: trans => trans.__('Compare & deploy…'),
    caption: trans =>
      trans.__(
        'Many variants and shapes, timed against each other; ways to deploy'
      ),
    about: ['sweep', 'ways'],
    nothing: trans => trans.__('Nothing was compared'),
    makes: true,
    isTabWhenFilled: true
  },
  {
    id: 'autotune',
    group: 'more',
    label: trans => trans.__('Autotune'),
    caption: trans =>
      trans.__('What torch chose by measuring, and the alternatives'),
    about: ['autotunings'],
    nothing: trans => trans.__('Nothing was autotuned'),
    isTabWhenFilled: true
  },
  {
    id: 'package',
    group: 'more',
    label: trans => trans.__('Ahead of time'),
    caption: trans =>
      trans.__('torch.export and AOTInductor: the contents of the package'),
    about: ['package'],
    nothing: trans => trans.__('Nothing was compiled ahead of time'),
    makes: true,
    isTabWhenFilled: true
  },
  {
    id: 'ranks',
    group: 'more',
    label: trans => trans.__('Ranks'),
    caption: trans =>
      trans.__('Collectives, and differences between the ranks'),
    about: ['rank'],
    nothing: trans => trans.__('Inspected in one process'),
    isTabWhenFilled: true
  },
  {
    id: 'targets',
    group: 'more',
    label: trans => trans.__('Targets'),
    caption: trans =>
      trans.__(
        'The estimated time of a call on target devices, which need not be present'
      ),
    about: ['target'],
    nothing: trans => trans.__('No variant targets another device'),
    isTabWhenFilled: true
  },
  {
    id: 'trace',
    group: 'more',
    label: trans => trans.__('Trace'),
    caption: trans =>
      trans.__('All compilations of a trace, what to change first, and search'),
    about: ['trace'],
    nothing: trans => trans.__('Not a trace'),
    isTabWhenFilled: true
  }
] as const satisfies readonly IViewRecord[];

/**
 * All views in the order of their tabs, grouped.
 */
export const VIEWS: readonly IView[] = RECORDS;
