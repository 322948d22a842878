import { Signal } from '@lumino/signaling';
import type { EventOf, IConnection } from '../protocol/connection';
import type {
  HelloResult,
  JobState,
  ReportSummary,
  SubjectSummary
} from '../protocol/types';
import type { IStatus } from '../interfaces/status';
import type { ISubjectModel } from '../interfaces/subject';
import { isActive } from './jobs';
import { ReportLoader } from './reading/loader';
import { chooseSubject, KnownSubjects, missedSubject } from './subjects';
import { withGraph } from '../protocol/state';
import { ModelReport } from './shownReport';

/**
 * Loads the extension into the kernel without leaving a name there.
 */
const LOAD = "get_ipython().run_line_magic('load_ext', 'compilescope')";

/**
 * What one kernel has inspected, as every view of it sees it.
 */
export class SubjectModel extends ModelReport implements ISubjectModel {
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
      this._setStatus({ kind: this.report ? 'dead' : 'none' });
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
    this.clearReport();
    this.showAllGraphs();
    this._loader.stop();
    this.measurements.clear();
    this.sweeps.clear();
    this.requestedVariants.forget();
    this.setProblem(null);
    this.select({});
    this.selected.linker.forget();
    this.switches.reset();
    this.subjectsChanged.emit();
    this.reportChanged.emit();
    void this.loadReport();
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

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  async resume(): Promise<void> {
    const variant = this.requestedVariants.unfinishedOf(this.job?.id);
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

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.switches.dispose();
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
    if (now && now.revision !== this.report?.revision) {
      this.reader.invalidate(now.subject.id, null);
      void this.loadReport();
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
          void this.loadReport(data.revision);
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
      this.requestedVariants.awaitCell(asked?.revision ?? 0);
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

  protected override async loadReport(revision?: number): Promise<void> {
    const id = this._subject;
    if (id !== null && (this._connection || this._known.answersOf(id))) {
      const { connection, subject } = this.source();
      await this._loader.load(connection, subject, revision);
    }
  }

  protected override setReport(report: ReportSummary): void {
    super.setReport(report);
    this._archive();
  }

  /**
   * Keep the shown report for after the kernel's end.
   */
  private _archive(): void {
    if (this.report && this._subject !== null && this.isLive) {
      this._known.archive(this._subject, this.report.revision);
    }
  }

  private _setStatus(status: IStatus): void {
    this._status = status;
    this.statusChanged.emit(status);
  }

  protected jobEnded(job: JobState): void {
    this.requestedVariants.jobEnded(job, this.report);
    if (job.subject === this._subject) {
      void this.requestedVariants.endCell(
        () => this.loadReport(),
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
  private _loader = new ReportLoader({
    onReport: report => this.setReport(report),
    onError: error => this.fail(error)
  });
}
