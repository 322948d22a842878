import { cellId } from '../../model/sweep';
import type { Sweep, SweepCell } from '../../protocol/types';

/**
 * A cell as a row of the table.
 */
export interface IRow {
  readonly id: string;
  readonly cell: SweepCell;

  /**
   * Whether it is the fastest of its shape.
   */
  readonly isWinner: boolean;

  /**
   * Whether it is Pareto-optimal for its shape in compile time and latency.
   */
  readonly isFront: boolean;

  /**
   * In µs per call; null if it was not measured.
   */
  readonly latency: number | null;

  /**
   * In seconds.
   */
  readonly compile: number | null;

  /**
   * The largest difference of an output from eager's.
   */
  readonly error: number | null;
}

/**
 * The rows of a sweep, in the order in which the cells were requested.
 */
export function rowsOf(sweep: Sweep): IRow[] {
  const front = new Set(sweep.pareto);
  return sweep.cells.map(cell => ({
    id: cellId(cell),
    cell,
    isWinner: cell.key !== '' && sweep.winners[cell.shape] === cell.key,
    isFront: front.has(cell.key),
    latency: cell.timing?.median_us ?? null,
    compile: cell.compile_time?.total_s ?? null,
    error:
      cell.accuracy.length > 0
        ? Math.max(...cell.accuracy.map(outputError => outputError.max_abs))
        : null
  }));
}

/**
 * The winners, one per shape, in the order of the shapes.
 */
export function winnersOf(sweep: Sweep, rows: readonly IRow[]): IRow[] {
  return sweep.shapes.flatMap(
    shape => rows.find(row => row.isWinner && row.cell.shape === shape) ?? []
  );
}
