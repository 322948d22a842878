import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { problemOf } from '../protocol/client';
import type { EventOf, IConnection } from '../protocol/connection';
import type {
  AddVariantResult,
  ArtifactResult,
  Choices,
  HelloResult,
  JobState,
  Problem,
  ReportSummary,
  SaveReportResult,
  SubjectSummary,
  Variant
} from '../protocol/types';
import type { ISelection, ISides, IStatus, ISubjectModel } from '../tokens';
import { ArtifactCache } from './artifacts';
import { Jobs } from './jobs';
import { ReportLoader } from './loader';
import { Switches } from './switches';
import { chooseCompilation, chooseSides, placeVariant } from './variants';

const NO_CHOICES: Choices = { backends: [], modes: [], targets: [] };
/**
 * Loads the extension into the kernel without leaving a name there.
 */
const LOAD = "get_ipython().run_line_magic('load_ext', 'compilescope')";

const NO_SELECTION: ISelection = { key: null, source: null, origin: null };

/**
 * What one kernel has inspected, as every view of it sees it.
 */
export class SubjectModel implements ISubjectModel {
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
    this._cache.clear();
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
    this._wantedName = null;
    this._setProblem(null);
    this.select({});
    this._switches.reset();
    this._subjectsChanged.emit();
    this._reportChanged.emit();
    void this._loadReport();
  }

  get choices(): Choices {
    return this._choices;
  }

  get report(): ReportSummary | null {
    return this._report;
  }

  get selectedVariants(): ISides {
    return this._sides;
  }
  set selectedVariants(sides: ISides) {
    const { left, right } = this._sides;
    if (sides.left === left && sides.right === right) {
      return;
    }
    // A side that was filled for want of better stays open for better.
    this._chosen = {
      left: sides.left === left ? this._chosen.left : sides.left,
      right: sides.right === right ? this._chosen.right : sides.right
    };
    this._sides = sides;
    this._selectedVariantsChanged.emit(sides);
  }

  get compilation(): string {
    return this._compilation;
  }
  set compilation(id: string) {
    if (id !== this._compilation) {
      this._compilation = id;
      this._compilationChanged.emit(id);
    }
  }

  get selection(): ISelection {
    return this._selection;
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

  get problem(): Problem | null {
    return this._problem;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get statusChanged(): ISignal<ISubjectModel, IStatus> {
    return this._statusChanged;
  }
  get subjectsChanged(): ISignal<ISubjectModel, void> {
    return this._subjectsChanged;
  }
  get inspected(): ISignal<ISubjectModel, string> {
    return this._inspected;
  }
  get reportChanged(): ISignal<ISubjectModel, void> {
    return this._reportChanged;
  }
  get selectedVariantsChanged(): ISignal<ISubjectModel, ISides> {
    return this._selectedVariantsChanged;
  }
  get compilationChanged(): ISignal<ISubjectModel, string> {
    return this._compilationChanged;
  }
  get selectionChanged(): ISignal<ISubjectModel, ISelection> {
    return this._selectionChanged;
  }
  get wantedChanged(): ISignal<ISubjectModel, void> {
    return this._wantedChanged;
  }
  get jobChanged(): ISignal<ISubjectModel, JobState | null> {
    return this._jobChanged;
  }
  get problemChanged(): ISignal<ISubjectModel, Problem | null> {
    return this._problemChanged;
  }

  select(selection: Partial<ISelection>): void {
    const next = { ...NO_SELECTION, ...selection };
    const { key, source } = this._selection;
    if (
      next.key === key &&
      next.source?.file === source?.file &&
      next.source?.line === source?.line
    ) {
      return;
    }
    this._selection = next;
    this._selectionChanged.emit(next);
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
    if (variant.requested.backend !== null) {
      this._chosen = placeVariant(this._chosen, variant);
      this.selectedVariants = placeVariant(this._sides, variant);
    }
  }

  run(): Promise<void> {
    return this._try(async (connection, subject) => {
      const { job, code } = await connection.request('start_run', {
        subject,
        variants: []
      });
      this._jobs.start(connection, job, code);
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

  save(format: 'json' | 'html'): Promise<SaveReportResult> {
    const { connection, subject } = this._need();
    return connection.request('save_report', { subject, format });
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
    const subject = this._subject ?? '';
    return this._cache.get({ subject, variant, compilation, artifact });
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
    }
    this._setStatus(status);
  }

  private _onOpened(_: unknown, state: HelloResult): void {
    this._choices = state.choices;
    this._jobs.reset(state.job);
    const known = this._subjects.find(
      each => each.subject.id === this._subject
    );
    this._setSubjects(state.subjects, null);
    const now = state.subjects.find(each => each.subject.id === this._subject);
    if (now && (!this._report || now.revision !== known?.revision)) {
      void this._loadReport();
    }
  }

  private _onEvent(_: unknown, { event, data }: EventOf): void {
    switch (event) {
      case 'subjects_changed':
        this._setSubjects(data.subjects, data.focus);
        break;
      case 'report_changed':
        this._cache.invalidate(data.subject, data.variant);
        if (data.subject === this._subject) {
          void this._loadReport();
        }
        break;
      case 'job_changed':
        this._jobs.update(data.job);
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
      this._subjectsChanged.emit();
    } else {
      this.subject = next;
    }
    if (focus !== null) {
      this._inspected.emit(focus);
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
      this._chosen = placeVariant(this._chosen, wanted);
    }
    this._sides = chooseSides(this._chosen, report.variants);
    if (isFirst) {
      const { left } = this._sides;
      const shown = report.variants.find(each => each.name === left);
      this._switches.reset(shown?.requested);
    }
    this._compilation = chooseCompilation(this._compilation, report.variants);
    this._reportChanged.emit();
    this._selectedVariantsChanged.emit(this._sides);
    this._compilationChanged.emit(this._compilation);
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

  private _setStatus(status: IStatus): void {
    this._status = status;
    this._statusChanged.emit(status);
  }

  private _setProblem(problem: Problem | null): void {
    if (problem !== this._problem) {
      this._problem = problem;
      this._problemChanged.emit(problem);
    }
  }

  private _connection: IConnection | null = null;
  private _status: IStatus = { kind: 'none' };
  private _subjects: readonly SubjectSummary[] = [];
  private _subject: string | null = null;
  private _choices = NO_CHOICES;
  private _report: ReportSummary | null = null;
  private _sides: ISides = { left: '', right: '' };
  private _chosen: ISides = { left: '', right: '' };
  private _compilation = '';
  private _selection = NO_SELECTION;
  private _wantedName: string | null = null;
  private _problem: Problem | null = null;
  private _isDisposed = false;
  private _cache = new ArtifactCache(request =>
    this._need().connection.request('get_artifact', request)
  );
  private _loader = new ReportLoader({
    onReport: report => this._setReport(report),
    onError: error => this._setProblem(problemOf(error))
  });
  private _jobs = new Jobs({
    onChange: job => this._jobChanged.emit(job),
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
    onChange: () => this._wantedChanged.emit()
  });
  private _statusChanged = new Signal<ISubjectModel, IStatus>(this);
  private _subjectsChanged = new Signal<ISubjectModel, void>(this);
  private _inspected = new Signal<ISubjectModel, string>(this);
  private _reportChanged = new Signal<ISubjectModel, void>(this);
  private _selectedVariantsChanged = new Signal<ISubjectModel, ISides>(this);
  private _compilationChanged = new Signal<ISubjectModel, string>(this);
  private _selectionChanged = new Signal<ISubjectModel, ISelection>(this);
  private _wantedChanged = new Signal<ISubjectModel, void>(this);
  private _jobChanged = new Signal<ISubjectModel, JobState | null>(this);
  private _problemChanged = new Signal<ISubjectModel, Problem | null>(this);
}
