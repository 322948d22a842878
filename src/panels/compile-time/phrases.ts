import type { TranslationBundle } from '@jupyterlab/translation';
import { formatMicroseconds, formatShare } from '../common';
import { kindTitle } from './kinds';
import type { ILane, IPlace, IWaterfall, Run } from './lanes';
import { spanAt } from './lanes';
import type { ISpan } from './spans';

/**
 * What a run is called.
 */
export function runTitle(run: Run, trans: TranslationBundle): string {
  return run === 'cold' ? trans.__('cold') : trans.__('warm');
}

/**
 * A lane's title: `0/0 · cold · 1.84 s`.
 */
export function laneTitle(lane: ILane, trans: TranslationBundle): string {
  const { id, run } = lane;
  return [id, runTitle(run, trans), formatMicroseconds(wholeOf(lane))].join(
    ' · '
  );
}

/**
 * A thread of a lane: the call waits for the main one.
 */
export function trackTitle(
  track: number,
  isMain: boolean,
  trans: TranslationBundle
): string {
  return isMain ? trans.__('main thread') : trans.__('alongside %1', track);
}

/**
 * A time or a moment; nothing is plainly 0.
 */
export function formatTime(microseconds: number): string {
  return microseconds > 0 ? formatMicroseconds(microseconds) : '0';
}

/**
 * The exact figures of a span.
 */
export interface IFigures {
  readonly name: string;
  readonly detail: string;
  readonly kind: string;
  readonly lines: readonly (readonly [string, string])[];
}

/**
 * What is to be said of a span; null where there is none.
 */
export function figuresOf(
  chart: IWaterfall,
  place: IPlace | null,
  trans: TranslationBundle
): IFigures | null {
  const span = spanAt(chart, place);
  if (!place || !span) {
    return null;
  }
  const { id, run, flame } = chart.lanes[place.lane];
  const whole = wholeOf(chart.lanes[place.lane]);
  const lines: [string, string][] = [
    [trans.__('Duration'), duration(span, whole)],
    [trans.__('Itself'), formatTime(span.self)],
    [trans.__('Starts at'), formatTime(span.start)],
    [trans.__('Compilation'), `${id}, ${runTitle(run, trans)}`]
  ];
  if (span.track !== flame.main) {
    lines.push([trans.__('Thread'), trackTitle(span.track, false, trans)]);
  }
  const { name, detail, kind } = span;
  return { name, detail, kind: kindTitle(kind, trans), lines };
}

/**
 * The figures in one sentence, for those who hear them.
 */
export function spoken({ name, detail, kind, lines }: IFigures): string {
  return [
    detail ? `${name}, ${detail}` : name,
    kind,
    ...lines.map(([label, value]) => `${label} ${value}`)
  ].join('; ');
}

/**
 * How long a lane's main thread spans, in µs.
 */
function wholeOf({ flame }: ILane): number {
  return flame.spans
    .filter(span => span.parent < 0 && span.track === flame.main)
    .reduce((sum, { duration }) => sum + duration, 0);
}

function duration(span: ISpan, whole: number): string {
  const text = formatMicroseconds(span.duration);
  return whole > 0 ? `${text} (${formatShare(span.duration / whole)})` : text;
}
