import type { ReportSummary, VariantSummary } from '../protocol/types';
import type { ISides } from '../interfaces/subject';
import {
  chooseCompilation,
  chooseSides,
  isCompiled,
  isOnlyForTargets,
  placeVariant
} from './variants';

/**
 * The shown parts of a report: two variants side by side, the one of them that
 * views of a single variant show, and one compilation. They are valid for every
 * revision of the report.
 */
export class Shown {
  constructor(private _options: Shown.IOptions) {}

  /**
   * The variants left and right.
   */
  get sides(): ISides {
    return this._sides;
  }
  set sides(sides: ISides) {
    const { left, right } = this._sides;
    if (sides.left === left && sides.right === right) {
      return;
    }
    // A side that was filled for want of better stays open for better.
    this._chosen = {
      left: sides.left === left ? this._chosen.left : sides.left,
      right: sides.right === right ? this._chosen.right : sides.right
    };
    const changed = sides.left === left ? sides.right : sides.left;
    this._change({ sides, variant: this._pick(sides, changed) });
  }

  /**
   * The variant that views of a single one show: one of the two.
   */
  get variant(): string {
    return this._variant;
  }
  set variant(name: string) {
    const variant = this._find(name);
    if (!variant || !isCompiled(variant) || name === this._variant) {
      return;
    }
    const { left, right } = this._sides;
    if (name === left || name === right) {
      this._change({ variant: name });
    } else {
      this.place(variant);
    }
  }

  /**
   * The compilation's id, `0/0`.
   */
  get compilation(): string {
    return this._compilation;
  }
  set compilation(id: string) {
    this._showGraphs(false, id);
  }

  /**
   * Whether views of several compilations show all of them.
   */
  get hasAllGraphs(): boolean {
    return this._hasAllGraphs;
  }

  /**
   * Show all compilations in such views.
   *
   * @param id - The compilation for the other views.
   */
  showAllGraphs(id = this._preferred): void {
    this._showGraphs(true, id);
  }

  /**
   * Put a variant on its side, and show it wherever one is shown.
   */
  place(variant: VariantSummary): void {
    if (isCompiled(variant)) {
      this._chosen = placeVariant(this._chosen, variant);
      const sides = placeVariant(this._sides, variant);
      this._change({ sides, variant: variant.name });
    }
  }

  /**
   * Show variants that were requested together side by side, as the report says.
   */
  placeAll(variants: readonly VariantSummary[]): void {
    const compiled = variants.filter(isCompiled);
    if (!this._report || compiled.length === 0) {
      return;
    }
    const { sides } = this._report;
    // Code for a target is shown next to a measured variant, which has no estimates.
    const isBesideOther =
      (this._find(sides.left)?.median_us ?? null) !== null &&
      compiled.some(({ name }) => name === sides.right) &&
      isOnlyForTargets(compiled);
    if (compiled.length < 2 && !isBesideOther) {
      compiled.forEach(variant => this.place(variant));
      return;
    }
    // The report chose among these.
    this._chosen = sides;
    this._change({ sides, variant: sides.left });
  }

  /**
   * Take a report, and a variant to turn to.
   *
   * @returns Tells of what has changed; to be called once the report is there
   * for all to see.
   */
  take(report: ReportSummary, requested?: VariantSummary): () => void {
    this._report = report;
    let variant = this._variant;
    if (requested && isCompiled(requested)) {
      this._chosen = placeVariant(this._chosen, requested);
      variant = requested.name;
    }
    const sides = chooseSides(this._chosen, report);
    return this._set({ sides, variant: this._pick(sides, variant, variant) });
  }

  private _pick(sides: ISides, best: string, shown = this._variant): string {
    const names = [sides.left, sides.right];
    const fits = (name: string) => {
      const variant = this._find(name);
      return names.includes(name) && !!variant && isCompiled(variant);
    };
    return [shown, best, ...names].find(fits) ?? sides.left;
  }

  private _showGraphs(hasAll: boolean, id: string): void {
    const { _hasAllGraphs: hadAll, _compilation: oldId } = this;
    this._hasAllGraphs = hasAll;
    // What is watched is listed before the report has it: it is shown once it does.
    this._preferred = id;
    this._change({});
    if (hadAll !== hasAll && this._compilation === oldId) {
      this._options.onCompilation(oldId);
    }
  }

  private _find(name: string): VariantSummary | undefined {
    return this._report?.variants.find(variant => variant.name === name);
  }

  private _change(change: Shown.IChange): void {
    this._set(change)();
  }

  private _set(change: Shown.IChange): () => void {
    const { sides: oldSides, variant: oldVariant, compilation: oldId } = this;
    const sides = change.sides ?? oldSides;
    const variant = change.variant ?? oldVariant;
    const asked = this._preferred;
    const id = this._report
      ? chooseCompilation(asked, oldId, variant, this._report.variants)
      : asked || oldId;
    this._sides = sides;
    if (variant !== oldVariant && id !== asked) {
      // The variant does not have the compilation that was picked.
      this._hasAllGraphs = true;
    }
    this._variant = variant;
    this._compilation = id;
    return () => {
      if (sides.left !== oldSides.left || sides.right !== oldSides.right) {
        this._options.onSides(sides);
      }
      if (variant !== oldVariant) {
        this._options.onVariant(variant);
      }
      if (id !== oldId) {
        this._options.onCompilation(id);
      }
    };
  }

  private _report: ReportSummary | null = null;
  private _sides: ISides = { left: '', right: '' };
  private _chosen: ISides = { left: '', right: '' };
  private _variant = '';
  private _compilation = '';
  private _hasAllGraphs = true;
  private _preferred = '';
}

/**
 * The namespace for `Shown` statics.
 */
export namespace Shown {
  /**
   * The callbacks.
   */
  export interface IOptions {
    onSides: (sides: ISides) => void;
    onVariant: (variant: string) => void;
    onCompilation: (id: string) => void;
  }

  /**
   * What is to be shown from now on.
   */
  export interface IChange {
    sides?: ISides;
    variant?: string;
  }
}
