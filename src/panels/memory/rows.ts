import type { Buffer, Memory } from '../../protocol/types';
import { compareNumbers } from '../common';

/**
 * A buffer in the table.
 */
export interface IRow {
  readonly buffer: Buffer;

  /**
   * Its index among the buffers: a name may occur more than once.
   */
  readonly place: number;

  /**
   * The first buffer of the allocation that contains it.
   */
  readonly home: string;

  /**
   * The key of the first launch that uses it; empty for an input.
   */
  readonly key: string;
}

/**
 * The stage of the graph whose nodes a wrapper computes.
 */
export function stageOf(direction: Memory['direction']): string {
  return direction === 'backward' ? 'backward_post_grad' : 'post_grad';
}

/**
 * The buffers of a wrapper, each with its allocation.
 */
export function rowsOf(memory: Memory): readonly IRow[] {
  const homes = new Map<string, string>();
  return memory.buffers.map((buffer, place) => {
    const home = homes.get(buffer.reuses) ?? (buffer.reuses || buffer.name);
    homes.set(buffer.name, home);
    return {
      buffer,
      place,
      home,
      key: buffer.kind === 'input' ? '' : (memory.keys[buffer.born] ?? '')
    };
  });
}

/**
 * The rows in the order of the table: the largest buffers first, then the
 * inputs, which the call does not allocate.
 */
export function largestFirst(rows: readonly IRow[]): readonly IRow[] {
  const isInput = ({ buffer }: IRow) => Number(buffer.kind === 'input');
  return [...rows].sort(
    (a, b) =>
      isInput(a) - isInput(b) || compareNumbers(b.buffer.bytes, a.buffer.bytes)
  );
}

/**
 * The allocations to draw, largest first, up to a maximum: buffers that reuse
 * each other's memory share a line.
 */
export function linesOf(
  rows: readonly IRow[],
  maxRows: number
): readonly { readonly home: string; readonly rows: readonly IRow[] }[] {
  const lines = new Map<string, IRow[]>();
  for (const row of rows) {
    if (row.buffer.kind !== 'input') {
      const line = lines.get(row.home);
      if (line) {
        line.push(row);
      } else {
        lines.set(row.home, [row]);
      }
    }
  }
  const size = (line: readonly IRow[]) =>
    Math.max(...line.map(({ buffer }) => buffer.bytes ?? 0));
  const largest = new Set(
    [...lines.entries()]
      .sort(([, a], [, b]) => size(b) - size(a))
      .slice(0, maxRows)
      .map(([home]) => home)
  );
  return [...lines.entries()]
    .filter(([home]) => largest.has(home))
    .map(([home, line]) => ({ home, rows: line }));
}
