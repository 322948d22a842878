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
 * Says what steps cost: those of each kind in a legend, and the one at the cursor, or else the
 * selected one, to who asks.
 */
export class CostStatus {
  /**
   * @param _costs What the steps of each side cost, now.
   */
  constructor(
    private _costs: () => Readonly<Record<Side, ICosts | null>>,
    trans: TranslationBundle
  ) {
    this.legend = new CostLegend(trans);
  }

  readonly legend: CostLegend;

  /** Bring the legend up to date. */
  show(stacked: boolean): void {
    this.legend.state = { costs: this._costs(), stacked };
  }

  /** The cursor was put somewhere: its step counts from now on. */
  moved(side: Side, line: number): void {
    this._cursor = { side, line };
  }

  /** Something else was selected: the cursor counts no longer. */
  leave(): void {
    this._cursor = null;
  }

  /** What the step at the cursor, or that of the selected key, costs. */
  current(key: string | null): ICursorCosts | null {
    const { _cursor: cursor } = this;
    return cursor
      ? costsAtLine(this._costs(), cursor.side, cursor.line)
      : costsOfKey(this._costs(), key);
  }

  private _cursor: { side: Side; line: number } | null = null;
}
