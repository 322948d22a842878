import { Signal } from '@lumino/signaling';
import type { EventOf, IConnection } from '../protocol/connection';
import type {
  AddVariantResult,
  Graph,
  HelloResult,
  JobState,
  ReportSummary,
  SubjectSummary,
  Variant
} from '../protocol/types';
import type { ILinked, ISelection } from '../interfaces/selection';
import type { IStatus } from '../interfaces/status';
import type { ISides, ISubjectModel } from '../interfaces/subject';
import { isActive } from './jobs';
import { ReportLoader } from './reading/loader';
import { RequestedVariants } from './requested';
import { Selected } from './selected';
import { Shown } from './shown';
import { chooseSubject, KnownSubjects, missedSubject } from './subjects';
import { Switches } from './switches';
import { findVariant, isGeneratedAhead } from './variants';
import { withGraph } from '../protocol/state';
import { ModelWatching } from './watching';

/**
 * Loads the extension into the kernel without leaving a name there.
 */
const LOAD = "get_ipython().run_line_magic('load_ext', 'compilescope')";

/**
 * What one kernel has inspected, as every view of it sees it.
 */
export class SubjectModel extends ModelWatching implements ISubjectModel {
  /**
   * The kernel's connection; null while there is no kernel.
   *
   * When a kernel dies, the model keeps its last state. A new or restarted kernel
   * sends its own.
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
    this._onKernelGone();
    this.reader.clear();
    this.measurements.clear();
    this.sweeps.clear();
    if (connection) {
      connection.statusChanged.connect(this._onStatus, this);
      connection.opened.connect(this._onOpened, this);
      connection.event.connect(this._onEvent, this);
      this._setStatus(connection.status);
      void connection.open();
    } else {
      this.jobs.end();
      this._setStatus({ kind: this._report ? 'dead' : 'none' });
    }
  }

  /**
   * Whether a cell that inspects something runs or has run, and the kernel has not
   * announced the inspection yet.
   */
  awaitsInspection = false;

  get status(): IStatus {
    return this._status;
  }

  get subjects(): readonly SubjectSummary[] {
    return this._known.list;
  }

  get offered(): string | null {
    return this._known.offered;
  }

  dismissOffer(): void {
    this._known.offered = null;
    this.subjectsChanged.emit();
  }

  get subject(): string | null {
    return this._subject;
  }
  set subject(id: string | null) {
    if (id === this._subject) {
      return;
    }
    this._subject = id;
    if (id === this._known.offered) {
      this._known.offered = null;
    }
    this._report = null;
    this.showAllGraphs();
    this._loader.stop();
    this.measurements.clear();
    this.sweeps.clear();
    this._requestedVariants.forget();
    this.setProblem(null);
    this.select({});
    this._selected.linker.forget();
    this._switches.reset();
    this.subjectsChanged.emit();
    this.reportChanged.emit();
    void this._loadReport();
  }

  get report(): ReportSummary | null {
    return this._report;
  }

  get selectedVariants(): ISides {
    return this._shown.sides;
  }
  set selectedVariants(sides: ISides) {
    this._requestedVariants.forgetCell();
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

  get hasAllGraphs(): boolean {
    return this._shown.hasAllGraphs;
  }
  showAllGraphs(id?: string): void {
    this._shown.showAllGraphs(id);
  }

  get selection(): ISelection {
    return this._selected.selection;
  }

  get linked(): ILinked {
    return this._selected.linked;
  }

  get isLive(): boolean {
    const isGone = this._subject !== null && !this._known.isLive(this._subject);
    return !isGone && (this._connection?.isLive ?? true);
  }

  get isKept(): boolean {
    const id = this._subject;
    return id !== null && this.isEarlier(id);
  }

  isEarlier(id: string): boolean {
    return this._known.isEarlier(id);
  }

  get requested(): Variant {
    return this._switches.requested;
  }

  get pending(): boolean {
    return this._switches.pending;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  select(selection: Partial<ISelection>): void {
    this._selected.select(selection);
  }

  setRequested(change: Partial<Variant>): void {
    this.setProblem(null);
    this._switches.set(change);
  }

  showVariant(name: string): void {
    this._requestedVariants.show(this._report, name);
  }

  async resume(): Promise<void> {
    const variant = this._requestedVariants.unfinishedOf(this.job?.id);
    if (variant) {
      this.setRequested(variant);
    } else {
      await this.run();
    }
  }

  override async forget(): Promise<void> {
    const id = this._subject;
    if (id !== null && !this.isLive && this._known.isFetched(id)) {
      this._known.forget(id);
      this._choose(null);
    } else {
      await super.forget();
    }
  }

  load(): Promise<void> {
    return this.attempt(async connection => {
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

  getGraph(
    variant: string,
    compilation: string,
    stage: string
  ): Promise<Graph> {
    this._selected.linker.graphLooked(variant, compilation, stage);
    return this.reader.getGraph(variant, compilation, stage);
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._switches.dispose();
    this._known.dispose();
    this._loader.stop();
    this._connection?.dispose();
    this._connection = null;
    Signal.clearData(this);
  }

  protected override source() {
    const id = this._subject;
    const archived = id === null ? null : this._known.answersOf(id);
    return id !== null && archived
      ? { connection: archived, subject: id }
      : this.need();
  }

  private _onKernelGone(): void {
    this._known.onKernelGone(this._subject);
    this._choose(null);
  }

  private _onStatus(_: unknown, status: IStatus): void {
    if (status.kind === 'dead' || status.isRestart) {
      this._onKernelGone();
    }
    if (status.kind === 'dead' || status.kind === 'connecting') {
      this.jobs.end();
      this.sweeps.end();
    }
    this._setStatus(status);
  }

  private _onOpened(_: unknown, state: HelloResult): void {
    this.setChoices(state.choices);
    this.jobs.reset(state.jobs);
    this.setWatchState(state.watching);
    this.setTiers(state.tiers);
    const missed = missedSubject(this._known.list, state.subjects);
    this._setLive(state.subjects, this.awaitsInspection ? missed : null);
    const now = state.subjects.find(
      ({ subject }) => subject.id === this._subject
    );
    // Not that of the list, which may be newer than the report that is shown.
    if (now && now.revision !== this._report?.revision) {
      this.reader.invalidate(now.subject.id, null);
      void this._loadReport();
    }
    this.sweeps.catchUp();
  }

  private _onEvent(_: unknown, { event, data }: EventOf): void {
    switch (event) {
      case 'subjects_changed':
        this._known.receiveOffer(data, this._subject);
        this._setLive(data.subjects, data.focus);
        break;
      case 'report_changed':
        this.reader.invalidate(data.subject, data.variants);
        if (data.subject === this._subject) {
          void this._loadReport(data.revision);
          if (this.pending) {
            this.reader.readWrapperAhead(this, data.variants, this.requested);
          }
        }
        break;
      case 'job_changed':
        this.jobs.update(data.job);
        break;
      case 'watch_changed':
        this.setWatchState(data.watch);
        break;
      case 'choices_changed':
        this.setChoices(data.choices);
        break;
      case 'tiers_changed':
        this.setTiers(withGraph(this.tiers, data.graph));
        break;
      case 'measured':
        if (data.measurement.subject === this._subject) {
          this.measurements.take(data.measurement);
        }
        break;
      case 'sweep_changed':
        if (data.subject === this._subject) {
          this.sweeps.take(data.sweep);
        }
        break;
    }
  }

  /**
   * Take the kernel's list. Reports of a kernel before it stay below.
   */
  private _setLive(
    subjects: readonly SubjectSummary[],
    focus: string | null
  ): void {
    this._known.update(subjects);
    if (focus !== null) {
      const asked = subjects.find(subject => subject.subject.id === focus);
      this._requestedVariants.awaitCell(asked?.revision ?? 0);
    }
    this._choose(focus);
  }

  /**
   * Turn to the subject to look at, now that the list has changed.
   */
  private _choose(focus: string | null): void {
    const current = this._subject;
    const next = chooseSubject(this._known.list, current, focus);
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

  private async _loadReport(revision?: number): Promise<void> {
    const id = this._subject;
    if (id !== null && (this._connection || this._known.answersOf(id))) {
      const { connection, subject } = this.source();
      await this._loader.load(connection, subject, revision);
    }
  }

  private _setReport(report: ReportSummary): void {
    const before = this._report;
    this._report = report;
    this._requestedVariants.take(report, before, () =>
      this.reportChanged.emit()
    );
    void this._selected.linker.look();
    this._archive();
  }

  /**
   * Have what is shown outlive the kernel.
   */
  private _archive(): void {
    if (this._report && this._subject !== null && this.isLive) {
      this._known.archive(this._subject, this._report.revision);
    }
  }

  private async _onAnswer(answer: AddVariantResult): Promise<void> {
    this._requestedVariants.awaitVariant(answer.name);
    if (answer.job) {
      const { connection } = this.need();
      this.jobs.start(connection, answer.job, answer.code);
    } else if (this._report && this._report.revision >= answer.revision) {
      this._setReport(this._report);
    } else {
      await this._loadReport(answer.revision);
    }
  }

  private _setStatus(status: IStatus): void {
    this._status = status;
    this.statusChanged.emit(status);
  }

  protected jobEnded(job: JobState): void {
    this._requestedVariants.jobEnded(job, this._report);
    if (job.subject === this._subject) {
      void this._requestedVariants.endCell(
        () => this._loadReport(),
        () => isActive(this.job)
      );
    }
    this._archive();
    if (!isActive(this.job)) {
      this._known.retry();
    }
  }

  private _connection: IConnection | null = null;
  private _status: IStatus = { kind: 'none' };
  private _subject: string | null = null;
  private _report: ReportSummary | null = null;

  private _known = new KnownSubjects({
    fetch: async (subject, format) => {
      const { _connection } = this;
      if (!_connection || isActive(this.job)) {
        return null;
      }
      const asked = { subject, format, redact: false } as const;
      return (await _connection.request('save_report', asked)).text;
    }
  });
  private _isDisposed = false;
  private _shown = new Shown({
    onSides: sides => this.selectedVariantsChanged.emit(sides),
    onVariant: variant => {
      this._requestedVariants.followShown(this._report);
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
    reader: this.reader,
    onSelection: selection => this.selectionChanged.emit(selection),
    onLinked: linked => this.linkedChanged.emit(linked)
  });
  private _loader = new ReportLoader({
    onReport: report => this._setReport(report),
    onError: error => this.fail(error)
  });
  private _switches = new Switches({
    isReady: variant =>
      isGeneratedAhead(this._report, variant) ||
      findVariant(this._report, variant) !== null,
    ask: async variant => {
      const { connection, subject } = this.need();
      const known = findVariant(this._report, variant);
      if (known && this._report) {
        const { revision } = this._report;
        return { name: known.name, revision, job: null, code: '' };
      }
      const answer = connection.request('add_variant', { subject, variant });
      if (isGeneratedAhead(this._report, variant)) {
        // Answered next, without another round trip: the report has the variant by then.
        void this._loadReport();
      }
      return answer;
    },
    onAnswer: answer => this._onAnswer(answer),
    onLeft: ({ job, code }) => {
      // The code that the job waits for will not be executed.
      if (job && code) {
        this._connection
          ?.request('cancel', { job: job.id })
          .catch(() => undefined);
      }
    },
    onError: error => {
      this.fail(error);
      this._requestedVariants.followShown(this._report);
    },
    onChange: () => this.requestedChanged.emit()
  });
  private _requestedVariants = new RequestedVariants({
    shown: this._shown,
    switches: this._switches
  });
}
