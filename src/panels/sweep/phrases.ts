import type { TranslationBundle } from '@jupyterlab/translation';
import type { SweepCell } from '../../protocol/types';
import type { BadgeKind } from '../common';
import { TABLES } from '../../words/tables';
import { comparison } from '../../words/comparison';

/**
 * What became of a cell.
 */
export function stateTitle(
  state: SweepCell['state'],
  trans: TranslationBundle
): string {
  return TABLES.cells(trans).state.words[state];
}

/**
 * What a running cell does, as the kernel says it; what it waits for is said
 * too.
 */
export function stepText(
  { state, step }: SweepCell,
  trans: TranslationBundle
): string {
  return step === 'waiting'
    ? trans.__('waiting for another cell’s measurement')
    : step || stateTitle(state, trans);
}

/**
 * How the state of a cell that was not measured looks.
 */
export function stateKind(state: SweepCell['state']): BadgeKind {
  switch (state) {
    case 'failed':
    case 'crashed':
    case 'timeout':
    case 'memory':
      return 'error';
    case 'running':
      return 'info';
    default:
      return 'plain';
  }
}

/**
 * How a cell compares to eager, in words; empty where that was not measured.
 */
export function againstEager(
  { timing, variant }: SweepCell,
  trans: TranslationBundle
): string {
  return timing
    ? comparison(
        { isBaseline: variant.backend === null, speedup: timing.speedup },
        trans
      )
    : '';
}

/**
 * A shape's name, or that it is the report's own call.
 */
export function shapeTitle(shape: string, trans: TranslationBundle): string {
  return shape || trans.__('the report’s call');
}

/**
 * A cell's variant, with its shape where that has a name.
 */
export function nameOf({ name, shape }: SweepCell): string {
  return shape ? `${name}, ${shape}` : name;
}
