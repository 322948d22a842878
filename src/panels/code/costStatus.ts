import type { TranslationBundle } from '@jupyterlab/translation';
import type { Side } from '../../code/artifacts';
import {
  costsAtLine,
  costsOfKey,
  type ICosts,
  type ICursorCosts
} from '../../code/costs';
import { CostLegend } from './legend';

/**
 * The costs of steps: of each kind for the legend, and of the step at the
 * cursor or else the selected one.
 */
export class CostStatus {
  /**
   * @param _costs The current costs of the steps of each side.
   */
  constructor(
    private _costs: () => Readonly<Record<Side, ICosts | null>>,
    trans: TranslationBundle
  ) {
    this.legend = new CostLegend(trans);
  }

  readonly legend: CostLegend;

  /** Updates the legend. */
  show(stacked: boolean): void {
    this.legend.state = { costs: this._costs(), stacked };
  }

  /** The cursor was moved: its step takes precedence from now on. */
  moved(side: Side, line: number): void {
    this._cursor = { side, line };
  }

  /** The selection changed: the cursor's step no longer takes precedence. */
  leave(): void {
    this._cursor = null;
  }

  /** The cost of the step at the cursor, or of the step with the selected key. */
  current(key: string | null): ICursorCosts | null {
    const { _cursor: cursor } = this;
    return cursor
      ? costsAtLine(this._costs(), cursor.side, cursor.line)
      : costsOfKey(this._costs(), key);
  }

  private _cursor: { side: Side; line: number } | null = null;
}
