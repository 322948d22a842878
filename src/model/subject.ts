import { Signal } from '@lumino/signaling';
import type { IMeasureOptions, StudyName } from '../measuring';
import { problemOf } from '../protocol/client';
import type { EventOf, IConnection } from '../protocol/connection';
import type {
  AddVariantResult,
  ArtifactResult,
  Choices,
  Compilation,
  Graph,
  HelloResult,
  JobState,
  Measurement,
  Problem,
  ReportSummary,
  SaveReportResult,
  StartRunResult,
  SubjectSummary,
  Sweep,
  Variant,
  VariantReport,
  WatchState,
  WhatIfResult
} from '../protocol/types';
import type { ISweepOptions } from '../sweeping';
import type {
  CompilationPart,
  ILinked,
  ISelection,
  ISides,
  IStatus,
  ISubjectModel
} from '../tokens';
import { Jobs } from './jobs';
import { ReportLoader } from './loader';
import { MeasurementKeeper } from './measurement';
import { ReportReader } from './reader';
import { Selected } from './selected';
import { Shown } from './shown';
import { ModelSignals } from './signals';
import { SweepKeeper } from './sweep';
import { Switches } from './switches';

const NO_CHOICES: Choices = { backends: [], modes: [], targets: [] };
/**
 * Loads the extension into the kernel without leaving a name there.
 */
const LOAD = "get_ipython().run_line_magic('load_ext', 'compilescope')";

/**
 * What one kernel has inspected, as every view of it sees it.
 */
export class SubjectModel extends ModelSignals implements ISubjectModel {
  /**
   * The kernel's connection; null while there is no kernel.
   *
   * The model keeps what it last knew when a kernel dies. A new or restarted
   * kernel says itself what it knows.
   */
  get connection(): IConnection | null {
    return this._connection;
  }
  set connection(connection: IConnection | null) {
    if (connection === this._connection) {
      return;
    }
    this._connection?.dispose();
    this._connection = connection;
    this._reader.clear();
    this._measurements.clear();
    this._sweeps.clear();
    if (connection) {
      connection.statusChanged.connect(this._onStatus, this);
      connection.opened.connect(this._onOpened, this);
      connection.event.connect(this._onEvent, this);
      this._setStatus(connection.status);
      void connection.open();
    } else {
      this._jobs.end();
      this._setStatus({ kind: this._report ? 'dead' : 'none' });
    }
  }

  /**
   * Whether a cell runs, or has run, that inspects something, and nothing was
   * heard of that yet.
   */
  awaitsInspection = false;

  get status(): IStatus {
    return this._status;
  }

  get subjects(): readonly SubjectSummary[] {
    return this._subjects;
  }

  get subject(): string | null {
    return this._subject;
  }
  set subject(id: string | null) {
    if (id === this._subject) {
      return;
    }
    this._subject = id;
    this._report = null;
    this._loader.stop();
    this._measurements.clear();
    this._sweeps.clear();
    this._wantedName = null;
    this._setProblem(null);
    this.select({});
    this._selected.linker.forget();
    this._switches.reset();
    this.subjectsChanged.emit();
    this.reportChanged.emit();
    void this._loadReport();
  }

  get choices(): Choices {
    return this._choices;
  }

  get report(): ReportSummary | null {
    return this._report;
  }

  get selectedVariants(): ISides {
    return this._shown.sides;
  }
  set selectedVariants(sides: ISides) {
    this._shown.sides = sides;
  }

  get variant(): string {
    return this._shown.variant;
  }
  set variant(name: string) {
    this._shown.variant = name;
  }

  get compilation(): string {
    return this._shown.compilation;
  }
  set compilation(id: string) {
    this._shown.compilation = id;
  }

  get selection(): ISelection {
    return this._selected.selection;
  }

  get linked(): ILinked {
    return this._selected.linked;
  }

  get watch(): WatchState | null {
    return this._watch;
  }

  get isLive(): boolean {
    return this._connection?.isLive ?? true;
  }

  get wanted(): Variant {
    return this._switches.wanted;
  }

  get pending(): boolean {
    return this._switches.pending;
  }

  get job(): JobState | null {
    return this._jobs.current;
  }

  get measurement(): Measurement | null {
    return this._measurements.current;
  }

  get sweep(): Sweep | null {
    return this._sweeps.current;
  }

  get problem(): Problem | null {
    return this._problem;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  select(selection: Partial<ISelection>): void {
    this._selected.select(selection);
  }

  setWanted(change: Partial<Variant>): void {
    this._setProblem(null);
    this._switches.set(change);
  }

  showVariant(name: string): void {
    const variant = this._report?.variants.find(each => each.name === name);
    if (!variant) {
      return;
    }
    this._wantedName = null;
    this._switches.reset(variant.requested);
    this._shown.place(variant);
  }

  run(): Promise<void> {
    return this._start((connection, subject) =>
      connection.request('start_run', { subject, variants: [] })
    );
  }

  loadMeasurement(): Promise<void> {
    return this._measurements.load();
  }

  startMeasure(options: IMeasureOptions = {}): Promise<void> {
    const { variants = [], seconds = 10, again = false } = options;
    const args = { variants: [...variants], seconds, again };
    return this._start((connection, subject) =>
      connection.request('start_measure', { subject, ...args })
    );
  }

  startStudies(
    studies: readonly StudyName[],
    variants: readonly string[] = []
  ): Promise<void> {
    const args = { studies: [...studies], variants: [...variants] };
    return this._start((connection, subject) =>
      connection.request('start_studies', { subject, ...args })
    );
  }

  loadSweep(): Promise<void> {
    return this._sweeps.load();
  }

  startSweep(options: ISweepOptions): Promise<void> {
    const { variants, shapes = {}, timeout = 300, seconds = 2 } = options;
    const args = {
      variants: [...variants],
      shapes: { ...shapes },
      timeout_s: timeout,
      memory_gb: null,
      workers: 1,
      seconds,
      resume: options.resume ?? true
    };
    return this._try((connection, subject) =>
      this._sweeps.begin(async () => {
        const asked = { subject, ...args };
        return (await connection.request('start_sweep', asked)).sweep;
      })
    );
  }

  cancelSweep(): Promise<void> {
    return this._try(async (connection, subject) => {
      await connection.request('cancel_sweep', { subject });
    });
  }

  cancel(): Promise<void> {
    return this._try(connection => this._jobs.cancel(connection));
  }

  forget(): Promise<void> {
    return this._try(async (connection, subject) => {
      await connection.request('forget', { subject });
    });
  }

  save(format: 'json' | 'html', redact = false): Promise<SaveReportResult> {
    const { connection, subject } = this._need();
    return connection.request('save_report', { subject, format, redact });
  }

  load(): Promise<void> {
    return this._try(async connection => {
      const { status } = this;
      // The first import of torch takes its time.
      this._setStatus({ kind: 'connecting' });
      try {
        await connection.execute(LOAD);
      } catch (error) {
        this._setStatus(status);
        throw error;
      }
      await connection.open();
    });
  }

  async refresh(): Promise<void> {
    await this._connection?.open();
  }

  getArtifact(
    variant: string,
    compilation: string,
    artifact: string
  ): Promise<ArtifactResult> {
    return this._reader.getArtifact(variant, compilation, artifact);
  }

  getVariant(variant: string): Promise<VariantReport> {
    return this._reader.getVariant(variant);
  }

  getCompilation(
    variant: string,
    compilation: string,
    parts: readonly CompilationPart[]
  ): Promise<Compilation> {
    return this._reader.getCompilation(variant, compilation, parts);
  }

  getGraph(
    variant: string,
    compilation: string,
    stage: string
  ): Promise<Graph> {
    this._selected.linker.graphLooked(variant, compilation, stage);
    return this._reader.getGraph(variant, compilation, stage);
  }

  whatIf(variant: string, args: string): Promise<WhatIfResult> {
    const { connection, subject } = this._need();
    return connection.request('what_if', {
      subject,
      variant,
      arguments: args,
      compilation: this.compilation
    });
  }

  async setWatch(on: boolean, clear = false): Promise<void> {
    await this._try(async connection => {
      this._setWatchState(await connection.request('set_watch', { on, clear }));
    });
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._switches.dispose();
    this._loader.stop();
    this._connection?.dispose();
    this._connection = null;
    Signal.clearData(this);
  }

  private _onStatus(_: unknown, status: IStatus): void {
    if (status.kind === 'dead' || status.kind === 'connecting') {
      this._jobs.end();
      this._sweeps.end();
    }
    this._setStatus(status);
  }

  private _onOpened(_: unknown, state: HelloResult): void {
    this._choices = state.choices;
    this._jobs.reset(state.job);
    this._setWatchState(state.watching);
    const known = this._subjects.find(
      each => each.subject.id === this._subject
    );
    // A cell may be done before the comms are open: what it inspected is in
    // the list, and no event told of it.
    const [latest] = state.subjects;
    const isMissed =
      this.awaitsInspection &&
      latest !== undefined &&
      !this._subjects.some(
        each =>
          each.subject.id === latest.subject.id &&
          each.revision === latest.revision
      );
    this._setSubjects(state.subjects, isMissed ? latest.subject.id : null);
    const now = state.subjects.find(each => each.subject.id === this._subject);
    if (now && (!this._report || now.revision !== known?.revision)) {
      this._reader.invalidate(now.subject.id, null);
      void this._loadReport();
    }
    this._sweeps.catchUp();
  }

  private _onEvent(_: unknown, { event, data }: EventOf): void {
    switch (event) {
      case 'subjects_changed':
        this._setSubjects(data.subjects, data.focus);
        break;
      case 'report_changed':
        this._reader.invalidate(data.subject, data.variant);
        if (data.subject === this._subject) {
          void this._loadReport();
        }
        break;
      case 'job_changed':
        this._jobs.update(data.job);
        break;
      case 'watch_changed':
        this._setWatchState(data.watch);
        break;
      case 'measured':
        if (data.measurement.subject === this._subject) {
          this._measurements.take(data.measurement);
        }
        break;
      case 'sweep_changed':
        if (data.subject === this._subject) {
          this._sweeps.take(data.sweep);
        }
        break;
    }
  }

  private _setSubjects(
    subjects: readonly SubjectSummary[],
    focus: string | null
  ): void {
    this._subjects = subjects;
    const ids = subjects.map(each => each.subject.id);
    const current = this._subject;
    const next =
      focus ??
      (current !== null && ids.includes(current) ? current : (ids[0] ?? null));
    if (next === current) {
      this.subjectsChanged.emit();
    } else {
      this.subject = next;
    }
    if (focus !== null) {
      this.awaitsInspection = false;
      this.inspected.emit(focus);
    }
  }

  private async _loadReport(): Promise<void> {
    if (this._connection && this._subject !== null) {
      await this._loader.load(this._connection, this._subject);
    }
  }

  private _setReport(report: ReportSummary): void {
    const isFirst = this._report === null;
    this._report = report;
    const wanted = report.variants.find(each => each.name === this._wantedName);
    if (wanted) {
      this._wantedName = null;
    }
    const tell = this._shown.take(report, wanted);
    if (isFirst) {
      const { variant } = this._shown;
      const shown = report.variants.find(each => each.name === variant);
      this._switches.reset(shown?.requested);
    }
    this.reportChanged.emit();
    tell();
    void this._selected.linker.look();
  }

  private async _onAnswer(answer: AddVariantResult): Promise<void> {
    this._wantedName = answer.name;
    if (answer.job) {
      const { connection } = this._need();
      this._jobs.start(connection, answer.job, answer.code);
    } else if (this._report && this._report.revision >= answer.revision) {
      this._setReport(this._report);
    } else {
      await this._loadReport();
    }
  }

  private _need(): { connection: IConnection; subject: string } {
    if (!this._connection || this._subject === null) {
      throw new Error('There is no kernel, or nothing is inspected in it');
    }
    return { connection: this._connection, subject: this._subject };
  }

  private _start(
    ask: (connection: IConnection, subject: string) => Promise<StartRunResult>
  ): Promise<void> {
    return this._try(async (connection, subject) => {
      const { job, code } = await ask(connection, subject);
      this._jobs.start(connection, job, code);
    });
  }

  private async _try(
    action: (connection: IConnection, subject: string) => Promise<void>
  ): Promise<void> {
    this._setProblem(null);
    try {
      if (this._connection) {
        await action(this._connection, this._subject ?? '');
      }
    } catch (error) {
      this._setProblem(problemOf(error));
    }
  }

  private _setWatchState(watch: WatchState | null): void {
    this._watch = watch;
    this.watchChanged.emit(watch);
  }

  private _setStatus(status: IStatus): void {
    this._status = status;
    this.statusChanged.emit(status);
  }

  private _setProblem(problem: Problem | null): void {
    if (problem !== this._problem) {
      this._problem = problem;
      this.problemChanged.emit(problem);
    }
  }

  private _connection: IConnection | null = null;
  private _status: IStatus = { kind: 'none' };
  private _subjects: readonly SubjectSummary[] = [];
  private _subject: string | null = null;
  private _choices = NO_CHOICES;
  private _report: ReportSummary | null = null;
  private _wantedName: string | null = null;
  private _problem: Problem | null = null;
  private _isDisposed = false;
  private _watch: WatchState | null = null;
  private _reader = new ReportReader(() => this._need());
  private _shown = new Shown({
    onSides: sides => this.selectedVariantsChanged.emit(sides),
    onVariant: variant => {
      this.variantChanged.emit(variant);
      void this._selected.linker.look();
    },
    onCompilation: id => {
      this.compilationChanged.emit(id);
      void this._selected.linker.look();
    }
  });
  private _selected = new Selected({
    model: this,
    reader: this._reader,
    onSelection: selection => this.selectionChanged.emit(selection),
    onLinked: linked => this.linkedChanged.emit(linked)
  });
  private _loader = new ReportLoader({
    onReport: report => this._setReport(report),
    onError: error => this._setProblem(problemOf(error))
  });
  private _measurements = new MeasurementKeeper({
    ask: since => {
      const { connection, subject } = this._need();
      return connection.request('get_measurement', { subject, since });
    },
    onChange: measurement => this.measurementChanged.emit(measurement),
    onError: error => this._setProblem(problemOf(error))
  });
  private _sweeps = new SweepKeeper({
    ask: async () => {
      const { connection, subject } = this._need();
      return (await connection.request('get_sweep', { subject })).sweep;
    },
    onChange: sweep => this.sweepChanged.emit(sweep),
    onError: error => this._setProblem(problemOf(error))
  });
  private _jobs = new Jobs({
    onChange: job => this.jobChanged.emit(job),
    onEnd: job => this._switches.jobEnded(job.id),
    onError: error => this._setProblem(problemOf(error)),
    onLost: () => void this.refresh()
  });
  private _switches = new Switches({
    ask: variant => {
      const { connection, subject } = this._need();
      return connection.request('add_variant', { subject, variant });
    },
    onAnswer: answer => this._onAnswer(answer),
    onError: error => this._setProblem(problemOf(error)),
    onChange: () => this.wantedChanged.emit()
  });
}
