import type { TranslationBundle } from '@jupyterlab/translation';
import { isEnded, isFinished } from '../../model/sweep';
import type { Sweep, SweepCell } from '../../protocol/types';
import type { BadgeKind } from '../common';
import { formatSeconds } from '../../words/format';
import { TABLES } from '../../words/tables';
import type { IRow } from './rows';
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
    ? trans.__('waiting until no other cell measures')
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
 * How a sweep stands.
 */
export interface ISweepStanding {
  readonly text: string;

  /**
   * What runs now, what was kept, how long it will take; said beside it.
   */
  readonly more: string;
  readonly isOn: boolean;

  /**
   * Between 0 and 1.
   */
  readonly fraction: number;
}

/**
 * What to say of a sweep as a whole.
 */
export function standingOf(
  sweep: Sweep,
  rows: readonly IRow[],
  trans: TranslationBundle
): ISweepStanding {
  const all = rows.length;
  const finished = rows.filter(({ cell }) => isFinished(cell));
  const done = finished.filter(({ cell }) => cell.state !== 'cancelled').length;
  const bad = finished.filter(
    ({ cell }) => stateKind(cell.state) === 'error'
  ).length;
  const isOn = !isEnded(sweep);
  const measured = rows.filter(({ isKept }) => isKept).length;
  const count = trans._n('%2 of %1 cell', '%2 of %1 cells', all, done);
  const now = rows.flatMap(({ cell }) =>
    cell.state === 'running'
      ? [`${nameOf(cell)} (${stepText(cell, trans)})`]
      : []
  );
  const text = isOn
    ? trans.__('Sweeping: %1', count)
    : sweep.state === 'done'
      ? trans._n('%1 cell is done', 'All %1 cells are done', all)
      : sweep.state === 'cancelled'
        ? trans.__('Cancelled after %1; you can resume', count)
        : trans.__('The sweep failed after %1', count);
  const more = [
    now.length > 0 && trans.__('now %1', now.join(', ')),
    isOn && sweep.left && trans.__('%1 left', sweep.left),
    !isOn &&
      sweep.took_s !== null &&
      trans.__(
        'in %1',
        sweep.took_s < 90
          ? formatSeconds(sweep.took_s)
          : trans.__('%1 min', Math.round(sweep.took_s / 60))
      ),
    bad > 0 && trans._n('%1 without a result', '%1 without a result', bad),
    measured > 0 &&
      trans._n(
        '%1 of %2 cells is reused',
        '%1 of %2 cells are reused',
        measured,
        all
      )
  ].filter(Boolean);
  return { text, more: more.join(' · '), isOn, fraction: all ? done / all : 0 };
}

/**
 * A span that was guessed: `about 3 min`.
 */
export function spanText(seconds: number, trans: TranslationBundle): string {
  if (seconds < 90) {
    return trans.__('about %1 s', Math.max(10, Math.round(seconds / 10) * 10));
  }
  return seconds < 5400
    ? trans.__('about %1 min', Math.round(seconds / 60))
    : trans.__('about %1 h', (seconds / 3600).toFixed(1));
}

/**
 * A cell's variant, with its shape where that has a name.
 */
export function nameOf({ name, shape }: SweepCell): string {
  return shape ? `${name}, ${shape}` : name;
}
