import type {
  AddVariantResult,
  Graph,
  ReportSummary,
  Variant
} from '../protocol/types';
import type { ILinked, ISelection } from '../interfaces/selection';
import type { ISides } from '../interfaces/subject';
import { RequestedVariants } from './requested';
import { Selected } from './selected';
import { Shown } from './shown';
import { Switches } from './switches';
import { findVariant, isGeneratedAhead } from './variants';
import { ModelWatching } from './watching';

/**
 * The report that is shown: the selection in it, the shown variants, and the
 * variants that are requested from the kernel.
 */
export abstract class ModelReport extends ModelWatching {
  abstract readonly isDisposed: boolean;

  get report(): ReportSummary | null {
    return this._report;
  }

  get selectedVariants(): ISides {
    return this._shown.sides;
  }
  set selectedVariants(sides: ISides) {
    this.requestedVariants.forgetCell();
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
    return this.selected.selection;
  }

  get linked(): ILinked {
    return this.selected.linked;
  }

  get requested(): Variant {
    return this.switches.requested;
  }

  get pending(): boolean {
    return this.switches.pending;
  }

  select(selection: Partial<ISelection>): void {
    this.selected.select(selection);
  }

  setRequested(change: Partial<Variant>): void {
    this.setProblem(null);
    this.switches.set(change);
  }

  showVariant(name: string): void {
    this.requestedVariants.show(this._report, name);
  }

  getGraph(
    variant: string,
    compilation: string,
    stage: string
  ): Promise<Graph> {
    this.selected.linker.graphLooked(variant, compilation, stage);
    return this.reader.getGraph(variant, compilation, stage);
  }

  protected abstract loadReport(revision?: number): Promise<void>;

  protected setReport(report: ReportSummary): void {
    const before = this._report;
    this._report = report;
    this.requestedVariants.take(report, before, () =>
      this.reportChanged.emit()
    );
    void this.selected.linker.look();
  }

  protected clearReport(): void {
    this._report = null;
  }

  private async _onAnswer(answer: AddVariantResult): Promise<void> {
    this.requestedVariants.awaitVariant(answer.name);
    if (answer.job) {
      const { connection } = this.need();
      this.jobs.start(connection, answer.job, answer.code);
    } else if (this._report && this._report.revision >= answer.revision) {
      this.setReport(this._report);
    } else {
      await this.loadReport(answer.revision);
    }
  }

  private _report: ReportSummary | null = null;

  private _shown = new Shown({
    onSides: sides => this.selectedVariantsChanged.emit(sides),
    onVariant: variant => {
      this.requestedVariants.followShown(this._report);
      this.variantChanged.emit(variant);
      void this.selected.linker.look();
    },
    onCompilation: id => {
      this.compilationChanged.emit(id);
      void this.selected.linker.look();
    }
  });
  protected readonly selected = new Selected({
    model: this,
    reader: this.reader,
    onSelection: selection => this.selectionChanged.emit(selection),
    onLinked: linked => this.linkedChanged.emit(linked)
  });
  protected readonly switches = new Switches({
    isReady: variant =>
      isGeneratedAhead(this._report, variant) ||
      findVariant(this._report, variant) !== null,
    request: async variant => {
      const { connection, subject } = this.need();
      const known = findVariant(this._report, variant);
      if (known && this._report) {
        const { revision } = this._report;
        return { name: known.name, revision, job: null, code: '' };
      }
      const answer = connection.request('add_variant', { subject, variant });
      if (isGeneratedAhead(this._report, variant)) {
        // Answered next, without another round trip: the report has the variant by then.
        void this.loadReport();
      }
      return answer;
    },
    onAnswer: answer => this._onAnswer(answer),
    onLeft: ({ job, code }) => {
      // The code that the job waits for will not be executed.
      if (job && code) {
        this.connection
          ?.request('cancel', { job: job.id })
          .catch(() => undefined);
      }
    },
    onError: error => {
      this.fail(error);
      this.requestedVariants.followShown(this._report);
    },
    onChange: () => this.requestedChanged.emit()
  });
  protected readonly requestedVariants = new RequestedVariants({
    shown: this._shown,
    switches: this.switches
  });
}
