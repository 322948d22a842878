import { isTimed, timesByLine } from '../common/launchTime';
import type { IAddress, Side } from './artifacts';
import { NO_TIMES, type LaunchTimes } from './editor/times';
import { SIDES } from './sides';
import type { ISubjectModel } from './types';

/**
 * The times of the launches that each side shows. They are fetched once they were measured, and
 * not before. Knows of no widget.
 */
export class SideTimes {
  constructor(private _options: SideTimes.IOptions) {}

  /** Settle anew what each side shows. */
  refresh(): void {
    for (const side of SIDES) {
      const { model, address } = this._options;
      const shown = address(side);
      const key =
        shown && isTimed(model, shown.variant)
          ? JSON.stringify([
              model.subject,
              model.report?.revision,
              shown.variant,
              shown.compilation,
              shown.artifact
            ])
          : '';
      if (key !== this._known[side]) {
        this._known[side] = key;
        void this._load(side, key, shown);
      }
    }
  }

  private async _load(
    side: Side,
    key: string,
    shown: IAddress | null
  ): Promise<void> {
    let times = NO_TIMES;
    if (key && shown) {
      try {
        const { kernels } = await this._options.model.getCompilation(
          shown.variant,
          shown.compilation,
          ['kernels']
        );
        times = timesByLine(kernels, shown.artifact);
      } catch {
        // The text itself says why it is not to be had.
      }
    }
    if (key === this._known[side] && !this._options.isDisposed()) {
      this._options.apply(side, times);
    }
  }

  /** What the times of each side are of; empty for none. */
  private _known: Record<Side, string> = { left: '', right: '' };
}

/**
 * A namespace for `SideTimes` statics.
 */
export namespace SideTimes {
  /**
   * Where a side's times come from and go to.
   */
  export interface IOptions {
    model: ISubjectModel;
    /** What a side shows. */
    address: (side: Side) => IAddress | null;
    apply: (side: Side, times: LaunchTimes) => void;
    isDisposed: () => boolean;
  }
}
