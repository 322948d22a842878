import type { TranslationBundle } from '@jupyterlab/translation';
import type { SweepCell } from '../../protocol/types';
import type { BadgeKind } from '../common';
import { TABLES } from '../../words/tables';
import { comparison } from '../../words/comparison';

/**
 * The result of a cell.
 */
export function stateTitle(
  state: SweepCell['state'],
  trans: TranslationBundle
): string {
  return TABLES.cells(trans).state.words[state];
}

/**
 * What a running cell does, in the kernel's words, and what it waits for.
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
 * The badge for the state of a cell that was not measured.
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
 * The speedup of a cell over eager, in words; empty if it was not measured.
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
 * A shape's name, or a text for the report's own call.
 */
export function shapeTitle(shape: string, trans: TranslationBundle): string {
  return shape || trans.__('the report’s call');
}

/**
 * A cell's variant, with its shape if that has a name.
 */
export function nameOf({ name, shape }: SweepCell): string {
  return shape ? `${name}, ${shape}` : name;
}
