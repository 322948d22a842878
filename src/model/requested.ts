import type { JobState, ReportSummary, Variant } from '../protocol/types';
import type { Shown } from './shown';
import type { Switches } from './switches';
import { isCompiled, isSameVariant } from './variants';

/**
 * The variants that a switch or a cell requested. The views select them as they
 * arrive, and the switches show the settings of the selected variant.
 */
export class RequestedVariants {
  constructor(private _options: RequestedVariants.IOptions) {}

  /**
   * The requested variant whose code this job was to generate, if the job was canceled
   * or failed.
   */
  unfinishedOf(job: string | undefined): Variant | null {
    const unfinished = this._unfinished;
    return unfinished && unfinished.job === job ? unfinished.variant : null;
  }

  /**
   * A cell was inspected: select the variants that it requested as they arrive.
   *
   * @param revision - The report's revision when the cell ran; earlier ones list
   * the requests of the previous run.
   */
  awaitCell(revision: number): void {
    this._cell = { revision };
    this._unfinished = null;
  }

  /**
   * Stop selecting the variants of a cell: the user selected one.
   */
  forgetCell(): void {
    this._cell = null;
  }

  /**
   * A switch requested a variant, which has or will have this name in the report.
   */
  awaitVariant(name: string): void {
    this._name = name;
    this._unfinished = null;
  }

  /**
   * No switch is waiting for a variant.
   */
  forget(): void {
    this._name = null;
  }

  /**
   * Select a variant of the report, and show its settings in the switches.
   */
  show(report: ReportSummary | null, name: string): void {
    const variant = report?.variants.find(summary => summary.name === name);
    if (variant) {
      this._name = null;
      this._options.switches.reset(variant.requested);
      this._options.shown.place(variant);
    }
  }

  /**
   * Process a new report.
   *
   * @param before - The previous report.
   * @param notify - Notifies all views of the new report.
   */
  take(
    report: ReportSummary,
    before: ReportSummary | null,
    notify: () => void
  ): void {
    const { shown, switches } = this._options;
    const requested = report.variants.find(({ name }) => name === this._name);
    if (requested) {
      this._name = null;
    }
    const tellOfShown = shown.take(report, requested);
    // The report of a new subject has no variants at first.
    if (!before?.variants.some(isCompiled)) {
      this.followShown(report);
    }
    notify();
    tellOfShown();
    this._turn(report);
    if (!switches.pending && this._name === null) {
      const isThere = report.variants.some(variant =>
        isSameVariant(variant.requested, switches.requested)
      );
      if (!isThere) {
        this.followShown(report);
      }
    }
  }

  /**
   * Show the settings of the selected variant in the switches.
   */
  followShown(report: ReportSummary | null): void {
    const { shown, switches } = this._options;
    const variant = report?.variants.find(({ name }) => name === shown.variant);
    if (variant && !switches.pending) {
      switches.reset(variant.requested);
    }
  }

  /**
   * A job ended; if it was canceled or failed, its variant will not arrive.
   */
  jobEnded(job: JobState, report: ReportSummary | null): void {
    const { switches } = this._options;
    const { requested } = switches;
    const isOwn = switches.jobEnded(job);
    if (isOwn && job.state !== 'done') {
      this._unfinished = { job: job.id, variant: requested };
      this._name = null;
      this.followShown(report);
    }
  }

  /**
   * A job ended: if it was the cell's, variants missing from its report will not arrive.
   *
   * @param load - Loads the report.
   * @param isWorking - Whether another job runs. The cell's does if a job that a switch
   * had started ended, which a cell that runs again cancels.
   */
  async endCell(
    load: () => Promise<void>,
    isWorking: () => boolean
  ): Promise<void> {
    const cell = this._cell;
    if (cell) {
      await load();
      if (this._cell === cell && !isWorking()) {
        this._cell = null;
      }
    }
  }

  private _turn(report: ReportSummary): void {
    if (!this._cell || report.revision < this._cell.revision) {
      return;
    }
    const asked = report.variants.filter(
      variant => isCompiled(variant) && report.asked.includes(variant.name)
    );
    this._options.shown.placeAll(asked);
    if (asked.length === report.asked.length) {
      this._cell = null;
    }
  }

  private _name: string | null = null;
  private _unfinished: {
    readonly job: string;
    readonly variant: Variant;
  } | null = null;

  /**
   * The cell whose variants have not all arrived.
   */
  private _cell: { readonly revision: number } | null = null;
}

/**
 * The namespace for `RequestedVariants` statics.
 */
export namespace RequestedVariants {
  /**
   * What selects the variants and shows their settings.
   */
  export interface IOptions {
    readonly shown: Shown;
    readonly switches: Switches;
  }
}
