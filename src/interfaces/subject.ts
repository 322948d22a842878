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
 * The part of a compilation that a standalone program runs: a kernel, or the
 * graph of a stage.
 */
export interface IReproduced {
  readonly variant: string;
  readonly compilation: string;
  readonly kernel?: string;
  readonly graph?: string;
  /**
   * Whether to search for a smaller graph that fails in the same way.
   */
  readonly minify?: boolean;
}

/**
 * What one kernel has inspected, as all views use it. Independent of widgets.
 */
export interface ISubjectModel extends IDisposable, IMeasuring, ISweeping {
  /**
   * The state of the connection.
   */
  readonly status: IStatus;
  readonly statusChanged: ISignal<ISubjectModel, IStatus>;

  /**
   * The subjects that the kernel has inspected.
   */
  readonly subjects: readonly SubjectSummary[];
  readonly subjectsChanged: ISignal<ISubjectModel, void>;

  /**
   * Emitted when a cell has just been inspected, with the subject's id.
   */
  readonly inspected: ISignal<ISubjectModel, string>;

  /**
   * The subject of a new report that is not shown yet; null if there is none,
   * once it is shown, and once it is dismissed.
   */
  readonly offered: string | null;

  /**
   * Dismiss the offered report.
   */
  dismissOffer(): void;

  /**
   * The selected subject's id.
   */
  subject: string | null;

  /**
   * The values that the installed torch accepts for each switch, and the
   * executors.
   */
  readonly choices: Choices;
  readonly choicesChanged: ISignal<ISubjectModel, Choices>;

  /**
   * The selected subject's report without its texts; null until it has loaded.
   */
  readonly report: ReportSummary | null;

  /**
   * Emitted when the report or the selected subject has changed.
   */
  readonly reportChanged: ISignal<ISubjectModel, void>;

  /**
   * The variants to show left and right, by name.
   */
  selectedVariants: ISides;
  readonly selectedVariantsChanged: ISignal<ISubjectModel, ISides>;

  /**
   * The name of the variant that views of a single variant show: the compiled
   * one of the two `selectedVariants`. Empty if there is none.
   */
  variant: string;
  readonly variantChanged: ISignal<ISubjectModel, string>;

  /**
   * The id of the compilation to show, such as `0/0`: one of those of
   * `variant`; empty if it has none.
   */
  compilation: string;
  readonly compilationChanged: ISignal<ISubjectModel, string>;

  /**
   * Whether views of several compilations show all of them: until a `compilation` is
   * set. A change is one of the compilation, too.
   */
  readonly hasAllGraphs: boolean;

  /**
   * Show all compilations in such views.
   *
   * @param id - The compilation that the other views turn to.
   */
  showAllGraphs(id?: string): void;

  /**
   * The current selection.
   */
  readonly selection: ISelection;
  readonly selectionChanged: ISignal<ISubjectModel, ISelection>;

  /**
   * Everything that the selection refers to. `linkedChanged` is emitted after
   * `selectionChanged`, once the necessary data has been fetched.
   */
  readonly linked: ILinked;
  readonly linkedChanged: ISignal<ISubjectModel, ILinked>;

  /**
   * Replace the selection; fields that are left out are cleared.
   */
  select(selection: Partial<ISelection>): void;

  /**
   * The variant that the switches last requested.
   */
  readonly requested: Variant;

  /**
   * Emitted when `requested` or `pending` has changed.
   */
  readonly requestedChanged: ISignal<ISubjectModel, void>;

  /**
   * Whether the code of `requested` is being generated.
   */
  readonly pending: boolean;

  /**
   * Set switches, and request the code of the resulting variant. Calls in quick
   * succession make a single request.
   */
  setRequested(change: Partial<Variant>): void;

  /**
   * Show a variant of the report: the switches show its settings, and the Code
   * view its code.
   */
  showVariant(name: string): void;

  /**
   * The job on the kernel's main thread, or else one on another thread; if none
   * is active, the last one.
   */
  readonly job: JobState | null;

  /**
   * When the job started or was queued, in the page's time (`Date.now()`).
   */
  readonly jobSince: number;
  readonly jobChanged: ISignal<ISubjectModel, JobState | null>;

  /**
   * The problem of the panel's last request; null if it succeeded.
   */
  readonly problem: Problem | null;
  readonly problemChanged: ISignal<ISubjectModel, Problem | null>;

  /**
   * Build, check and time the report's variants.
   */
  run(): Promise<void>;

  /**
   * Resume canceled work: generate the code that was last requested, or build
   * and time.
   */
  resume(): Promise<void>;

  /**
   * Cancel the job.
   */
  cancel(): Promise<void>;

  /**
   * Drop the selected subject.
   */
  forget(): Promise<void>;

  /**
   * Get the results so far of the checkup of the kernel's environment, which
   * runs until its `waiting` is empty.
   *
   * @param restart - Start a new checkup, unless one is running.
   */
  getCheckup(restart: boolean): Promise<CheckupResult>;

  /**
   * Get the standalone program of a kernel or graph, or the job that writes and
   * tries it, which the first request starts.
   *
   * @param restart - Start another job if the last one has ended.
   */
  getReproducer(part: IReproduced, restart: boolean): Promise<ReproducerResult>;

  /**
   * Cancel a job that `getReproducer` returned. It is not on the main thread,
   * so nothing is interrupted.
   */
  cancelReproducer(job: string): Promise<void>;

  /**
   * Get the whole report of the selected subject as the text of a file.
   *
   * @param redact - Whether to leave out paths and source code.
   */
  save(
    format: 'json' | 'html',
    redact?: boolean
  ): Promise<{ filename: string; text: string }>;

  /**
   * Load the IPython extension into the kernel.
   */
  load(): Promise<void>;

  /**
   * Request everything again.
   */
  refresh(): Promise<void>;

  /**
   * Get a variant of the report with outlines of its compilations. The results
   * of this method and of the following ones are cached until the report's
   * revision changes; they reject with a `RequestError`.
   */
  getVariant(variant: string): Promise<VariantReport>;

  /**
   * Find the lines that contain a text, in all texts of the report.
   */
  search(text: string): Promise<SearchResult>;

  /**
   * Compare the trace with another one; the difference is added to the report.
   *
   * @param path - The path of the other trace.
   * @param every - Whether to compare the kernels and guards of all
   *   compilations that differ, not only of the slowest.
   */
  compareTrace(path: string, every: boolean): Promise<void>;

  /**
   * Get the outline of a compilation, with the requested parts.
   */
  getCompilation(
    variant: string,
    compilation: string,
    parts: readonly CompilationPart[]
  ): Promise<Compilation>;

  /**
   * Get the graph of a stage, without its text.
   */
  getGraph(variant: string, compilation: string, stage: string): Promise<Graph>;

  /**
   * Find the guards that would fail for other arguments.
   *
   * @param args - The arguments in Python, as written in a call.
   */
  whatIf(variant: string, args: string): Promise<WhatIfResult>;

  /**
   * The state of watching; null until the kernel has reported it.
   */
  readonly watch: WatchState | null;
  readonly watchChanged: ISignal<ISubjectModel, WatchState | null>;

  /**
   * The graphs that the backend `compilescope` compiled, and their tiers.
   */
  readonly tiers: readonly GraphTiers[];
  readonly tiersChanged: ISignal<ISubjectModel, readonly GraphTiers[]>;

  /**
   * Pin a graph to a tier, or unpin it.
   *
   * @param tier - The last tier that may serve.
   */
  pinTier(
    number: number,
    pinned: boolean,
    tier: GraphTiers['serving']
  ): Promise<void>;

  /**
   * Turn watching on or off.
   *
   * @param clear - Whether to drop the recorded compilations first.
   */
  setWatch(on: boolean, clear?: boolean): Promise<void>;

  /**
   * Whether a kernel can build, time and study the report's subject; false for
   * a report from a file.
   */
  readonly isLive: boolean;

  /**
   * Whether the report is a copy from a kernel that has ended, as of when it
   * was last shown.
   */
  readonly isKept: boolean;

  /**
   * Whether a subject was inspected by a kernel that has ended.
   */
  isEarlier(subject: string): boolean;

  /**
   * Get an artifact of the report: a text, with the regions of its lines.
   */
  getArtifact(
    variant: string,
    compilation: string,
    artifact: string
  ): Promise<ArtifactResult>;
}
