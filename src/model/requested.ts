import type { JobState, ReportSummary, Variant } from '../protocol/types';
import type { Shown } from './shown';
import type { Switches } from './switches';
import { isCompiled, isSameVariant } from './variants';

/**
 * The variants that a switch or a cell asked for: what is shown turns to them as
 * they come, and the switches show the setting of what is shown.
 */
export class RequestedVariants {
  constructor(private _options: RequestedVariants.IOptions) {}

  /**
   * The setting whose sources were asked for, and the work on them stopped.
   */
  get unmade(): Variant | null {
    return this._unmade;
  }

  /**
   * A cell was inspected: turn to what it asked for, as that comes.
   *
   * @param revision - The report's when the cell ran: those before it say what
   * the run before asked for.
   */
  awaitCell(revision: number): void {
    this._cell = { revision };
    this._unmade = null;
  }

  /**
   * Turn no longer to what a cell asked for: the user chose what is shown.
   */
  forgetCell(): void {
    this._cell = null;
  }

  /**
   * A switch asked for a variant, which the report has under this name or will.
   */
  awaitVariant(name: string): void {
    this._name = name;
    this._unmade = null;
  }

  /**
   * No variant is on its way from a switch.
   */
  forget(): void {
    this._name = null;
  }

  /**
   * Show a variant that the report has, and its setting.
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
   * Take a report that is new.
   *
   * @param before - The report before it.
   * @param tell - Tells all views of the new report.
   */
  take(
    report: ReportSummary,
    before: ReportSummary | null,
    tell: () => void
  ): void {
    const { shown, switches } = this._options;
    const requested = report.variants.find(({ name }) => name === this._name);
    if (requested) {
      this._name = null;
    }
    const tellOfShown = shown.take(report, requested);
    // A subject is there before its first variant is.
    if (!before?.variants.some(isCompiled)) {
      this.followShown(report);
    }
    tell();
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
   * Have the switches show the setting of the variant that is shown.
   */
  followShown(report: ReportSummary | null): void {
    const { shown, switches } = this._options;
    const variant = report?.variants.find(({ name }) => name === shown.variant);
    if (variant && !switches.pending) {
      switches.reset(variant.requested);
    }
  }

  /**
   * A job has ended: a variant that it was to make may not come.
   */
  jobEnded(job: JobState, report: ReportSummary | null): void {
    const { switches } = this._options;
    const { requested } = switches;
    const isOwn = switches.jobEnded(job.id);
    if (isOwn && job.state !== 'done') {
      this._unmade = requested;
      this._name = null;
      this.followShown(report);
    }
  }

  /**
   * What a cell asked for and is not in the report of its work does not come.
   *
   * @param load - Loads that report.
   */
  async endCell(load: () => Promise<void>): Promise<void> {
    const cell = this._cell;
    if (cell) {
      await load();
      if (this._cell === cell) {
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
  private _unmade: Variant | null = null;

  /**
   * The cell whose variants have not all come.
   */
  private _cell: { readonly revision: number } | null = null;
}

/**
 * The namespace for `RequestedVariants` statics.
 */
export namespace RequestedVariants {
  /**
   * What turns to the variants.
   */
  export interface IOptions {
    readonly shown: Shown;
    readonly switches: Switches;
  }
}
