import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import type {
  ArtifactResult,
  CheckupResult,
  Choices,
  Compilation,
  CompilationPart,
  Graph,
  GraphTiers,
  JobState,
  Problem,
  ReportSummary,
  ReproducerResult,
  SearchResult,
  SubjectSummary,
  Variant,
  VariantReport,
  WatchState,
  WhatIfResult
} from '../protocol/types';
import type { IMeasuring } from './measuring';
import type { ILinked, ISelection } from './selection';
import type { IStatus } from './status';
import type { ISweeping } from './sweeping';

/**
 * The variants shown left and right.
 */
export interface ISides {
  readonly left: string;
  readonly right: string;
}

/**
 * What a standalone program runs: a kernel, or a stage's graph.
 */
export interface IReproduced {
  readonly variant: string;
  readonly compilation: string;
  readonly kernel?: string;
  readonly graph?: string;
  /**
   * Whether a smaller graph that fails in the same way is wanted.
   */
  readonly minify?: boolean;
}

/**
 * What one kernel has inspected, as every view sees it. Independent of widgets.
 */
export interface ISubjectModel extends IDisposable, IMeasuring, ISweeping {
  /**
   * The state of the connection.
   */
  readonly status: IStatus;
  readonly statusChanged: ISignal<ISubjectModel, IStatus>;

  /**
   * The subjects that the kernel knows.
   */
  readonly subjects: readonly SubjectSummary[];
  readonly subjectsChanged: ISignal<ISubjectModel, void>;

  /**
   * Emitted when a cell has just been inspected, with the subject's id.
   */
  readonly inspected: ISignal<ISubjectModel, string>;

  /**
   * A report that has come meanwhile and is not the one shown: the id of its
   * subject. Null once it is shown or dismissed.
   */
  readonly offered: string | null;

  /**
   * Show no longer that there is such a report.
   */
  dismissOffer(): void;

  /**
   * The selected subject's id.
   */
  subject: string | null;

  /**
   * What the installed torch allows for each switch, and the executors.
   */
  readonly choices: Choices;
  readonly choicesChanged: ISignal<ISubjectModel, Choices>;

  /**
   * The selected subject's report without its texts; null until it has come.
   */
  readonly report: ReportSummary | null;

  /**
   * Emitted when the report, or the subject that it is of, has changed.
   */
  readonly reportChanged: ISignal<ISubjectModel, void>;

  /**
   * The variants to show left and right, by name.
   */
  selectedVariants: ISides;
  readonly selectedVariantsChanged: ISignal<ISubjectModel, ISides>;

  /**
   * The variant that a view of a single one shows, by name: one of the two of
   * `selectedVariants`, one that torch.compile made. Empty while there is none.
   */
  variant: string;
  readonly variantChanged: ISignal<ISubjectModel, string>;

  /**
   * The id of the compilation to show, `0/0`: one that `variant` has, if it has
   * any; empty while there is none.
   */
  compilation: string;
  readonly compilationChanged: ISignal<ISubjectModel, string>;

  /**
   * What is selected.
   */
  readonly selection: ISelection;
  readonly selectionChanged: ISignal<ISubjectModel, ISelection>;

  /**
   * What the selection means. Emitted after `selectionChanged`, once what it
   * takes to tell has been fetched.
   */
  readonly linked: ILinked;
  readonly linkedChanged: ISignal<ISubjectModel, ILinked>;

  /**
   * Selects; what is not given is deselected.
   */
  select(selection: Partial<ISelection>): void;

  /**
   * The setting of the switches that the user asked for last.
   */
  readonly requested: Variant;

  /**
   * Emitted when `requested`, or whether its sources are being made, has changed.
   */
  readonly requestedChanged: ISignal<ISubjectModel, void>;

  /**
   * Whether the sources of `requested` are on their way.
   */
  readonly pending: boolean;

  /**
   * Flips switches: asks for the sources of the variant so set. Calls in quick
   * succession are one request; the last one wins.
   */
  setRequested(change: Partial<Variant>): void;

  /**
   * Turns to a variant that the report has: the switches show its setting, the
   * code view its code.
   */
  showVariant(name: string): void;

  /**
   * The job on the kernel's main thread, else the one on another thread; the last one
   * if none is active.
   */
  readonly job: JobState | null;

  /**
   * When the job began, or began to wait, in the page's time (`Date.now()`).
   */
  readonly jobSince: number;
  readonly jobChanged: ISignal<ISubjectModel, JobState | null>;

  /**
   * A problem of the panel's own last request, null if it went well.
   */
  readonly problem: Problem | null;
  readonly problemChanged: ISignal<ISubjectModel, Problem | null>;

  /**
   * Builds, checks and times the report's variants.
   */
  run(): Promise<void>;

  /**
   * Resumes what was stopped: generates the code that was asked for last,
   * or builds and times.
   */
  resume(): Promise<void>;

  /**
   * Stops the job.
   */
  cancel(): Promise<void>;

  /**
   * Drops the selected subject.
   */
  forget(): Promise<void>;

  /**
   * How the kernel's surroundings are: what is found by now, of a checkup that
   * goes on while there is something in its `waiting`.
   *
   * @param again - Begin anew, if none is under way.
   */
  getCheckup(again: boolean): Promise<CheckupResult>;

  /**
   * The standalone program of a kernel or graph, or the job that writes and
   * tries it: the first request starts it.
   *
   * @param again - Start another job if the last one has ended.
   */
  getReproducer(part: IReproduced, again: boolean): Promise<ReproducerResult>;

  /**
   * Cancels a job that `getReproducer` returned. The job is not on the main thread, so
   * nothing is interrupted.
   */
  cancelReproducer(job: string): Promise<void>;

  /**
   * The whole report of the selected subject as a file's text.
   *
   * @param redact - Without paths and source code.
   */
  save(
    format: 'json' | 'html',
    redact?: boolean
  ): Promise<{ filename: string; text: string }>;

  /**
   * Loads the IPython extension into the kernel.
   */
  load(): Promise<void>;

  /**
   * Asks for everything again.
   */
  refresh(): Promise<void>;

  /**
   * A variant of the report with its compilations in outline. This and what
   * follows is cached for as long as the report's revision is the same, and
   * rejects with a `RequestError`.
   */
  getVariant(variant: string): Promise<VariantReport>;

  /**
   * The lines that hold a text, of all texts of the report.
   */
  search(text: string): Promise<SearchResult>;

  /**
   * Compare a trace with another one: the report has the difference then.
   *
   * @param path - The other trace's.
   * @param every - Compare the kernels and guards of all compilations that
   *   differ, not of the slowest alone.
   */
  compareTrace(path: string, every: boolean): Promise<void>;

  /**
   * A compilation in outline, with the parts that are asked for.
   */
  getCompilation(
    variant: string,
    compilation: string,
    parts: readonly CompilationPart[]
  ): Promise<Compilation>;

  /**
   * A stage's graph, without its text.
   */
  getGraph(variant: string, compilation: string, stage: string): Promise<Graph>;

  /**
   * Which guards would fail for other arguments; `args` is Python, as in a
   * call.
   */
  whatIf(variant: string, args: string): Promise<WhatIfResult>;

  /**
   * Whether the kernel is watched; null until it has said so.
   */
  readonly watch: WatchState | null;
  readonly watchChanged: ISignal<ISubjectModel, WatchState | null>;

  /**
   * The graphs that the backend `compilescope` compiled, and their tiers.
   */
  readonly tiers: readonly GraphTiers[];
  readonly tiersChanged: ISignal<ISubjectModel, readonly GraphTiers[]>;

  /**
   * Have a graph stay with a tier, or end that.
   *
   * @param tier - The last that may serve.
   */
  pinTier(
    number: number,
    pinned: boolean,
    tier: GraphTiers['serving']
  ): Promise<void>;

  /**
   * Turn watching on or off.
   *
   * @param clear - Whether to empty what was seen first.
   */
  setWatch(on: boolean, clear?: boolean): Promise<void>;

  /**
   * Whether there is a kernel behind the report: it can then be built, timed
   * and asked for more. A report from a file cannot.
   */
  readonly isLive: boolean;

  /**
   * Whether the report is of a kernel that is gone: it is looked at, and saved,
   * as it was when it was last shown.
   */
  readonly isKept: boolean;

  /**
   * Whether a subject was inspected by a kernel that is gone.
   */
  isEarlier(subject: string): boolean;

  /**
   * An artifact of the report: one text, with what its lines mean.
   */
  getArtifact(
    variant: string,
    compilation: string,
    artifact: string
  ): Promise<ArtifactResult>;
}
