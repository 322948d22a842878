import type { IRatio } from './intervals';
import { ratioOf } from './intervals';

/**
 * A ratio to the baseline after so many rounds.
 */
export interface IPoint extends IRatio {
  readonly rounds: number;
}

/**
 * Samples of rounds that followed each other.
 */
export interface IRounds {
  readonly samples: readonly number[];

  /**
   * The round of the first one.
   */
  readonly first: number;
}

/**
 * With fewer rounds a ratio says nothing: its interval is all that was seen.
 */
const FIRST = 8;

/**
 * From one point to the next there are at least so many per cent more rounds:
 * some hundred points for thousands of rounds.
 */
const STEP = 0.05;

/**
 * The ratio to the baseline as rounds come in. What was reckoned is kept: more
 * rounds change no earlier point.
 */
export class RunningRatio {
  /**
   * The points so far, and one for the last round.
   */
  update(baseline: IRounds, own: IRounds): readonly IPoint[] {
    const first = Math.max(baseline.first, own.first);
    const [above, below] = [baseline, own].map(each =>
      each.samples.slice(first - each.first)
    );
    const count = Math.min(above.length, below.length);
    const isKnown =
      first === this._first &&
      count >= this._logs.length &&
      below[0] === this._start;
    if (!isKnown) {
      this._first = first;
      this._start = below[0];
      this._logs = [];
      this._points = [];
      this._next = FIRST;
    }
    for (let i = this._logs.length; i < count; i++) {
      this._logs.push(Math.log(above[i] / below[i]));
    }
    while (this._next <= count) {
      this._points.push(this._at(this._next));
      this._next = Math.ceil(this._next * (1 + STEP));
    }
    const last = this._points[this._points.length - 1];
    return count < FIRST || last?.rounds === first + count
      ? [...this._points]
      : [...this._points, this._at(count)];
  }

  private _at(count: number): IPoint {
    return {
      rounds: this._first + count,
      ...ratioOf(this._logs.slice(0, count))
    };
  }

  /**
   * The first round that both took part in.
   */
  private _first = 0;

  /**
   * The first sample: another one, another measurement.
   */
  private _start: number | undefined = undefined;
  private _logs: number[] = [];
  private _points: IPoint[] = [];
  private _next = FIRST;
}
