import type { TranslationBundle } from '@jupyterlab/translation';
import { formatMicroseconds, formatShare } from '../../words/format';
import { kindTitle } from './kinds';
import type { ILane, IPlace, IWaterfall } from './timeline/lanes';
import { spanAt } from './timeline/lanes';
import type { ISpan } from './timeline/spans';

/**
 * The label of a run.
 */
export function runTitle(run: ILane['run'], trans: TranslationBundle): string {
  switch (run) {
    case 'cold':
      return trans.__('cold');
    case 'warm':
      return trans.__('warm');
    case 'recorded':
      return trans.__('as it ran');
    case 'later':
      return trans.__('a later call');
  }
}

/**
 * A lane's title: `0/0 · cold · 1.84 s`; of kernels `0/0 · kernels, first call
 * · 180 µs for one launch of each of 9 generated kernels`, whose end a narrow
 * chart cuts off.
 */
export function laneTitle(lane: ILane, trans: TranslationBundle): string {
  const { id, of, run } = lane;
  const parts =
    of === 'phases'
      ? [runTitle(run, trans), formatMicroseconds(wholeOf(lane))]
      : [kernelsTitle(run, trans), launchesText(lane, trans)];
  return [id, ...parts].filter(Boolean).join(' · ');
}

/**
 * The label of the kernels of a run.
 */
export function kernelsTitle(
  run: ILane['run'],
  trans: TranslationBundle
): string {
  return run === 'later'
    ? trans.__('kernels, a later call')
    : trans.__('kernels, first call');
}

/**
 * The time of one launch of each kernel of a lane, without everything before
 * it. A call may launch a kernel more often, and calls libraries in between.
 */
function launchesText({ flame }: ILane, trans: TranslationBundle): string {
  const runs = flame.spans.filter(
    ({ kind }) => kind === 'first_run' || kind === 'later_run'
  );
  const us = formatMicroseconds(
    runs.reduce((sum, { self }) => sum + (self ?? 0), 0)
  );
  switch (runs.length) {
    case 0:
      return '';
    case 1:
      return trans.__('%1 for one launch of the generated kernel', us);
    default:
      return trans.__(
        '%1 for one launch of each of %2 generated kernels',
        us,
        runs.length
      );
  }
}

/**
 * A thread of a lane: the call waits for the main one.
 */
export function trackTitle(
  track: number,
  isMain: boolean,
  trans: TranslationBundle
): string {
  return isMain ? trans.__('main thread') : trans.__('in parallel, %1', track);
}

/**
 * A duration or a moment; zero has no unit.
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
 * The description of a span; null without one.
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
  const { id, of, run, flame } = chart.lanes[place.lane];
  const isPhase = of === 'phases';
  const whole = isPhase ? wholeOf(chart.lanes[place.lane]) : 0;
  const lines: [string, string][] = [
    [trans.__('Duration'), duration(span, whole)]
  ];
  if (isPhase && span.self !== null) {
    lines.push([trans.__('Self'), formatTime(span.self)]);
  }
  lines.push(
    [trans.__('Starts at'), formatTime(span.start)],
    [
      trans.__('Compilation'),
      [id, runTitle(run, trans)].filter(Boolean).join(', ')
    ]
  );
  if (span.track !== flame.main) {
    lines.push([trans.__('Thread'), trackTitle(span.track, false, trans)]);
  }
  const { name, detail, kind } = span;
  return { name, detail, kind: kindTitle(kind, trans), lines };
}

/**
 * The figures in one sentence, for screen readers.
 */
export function figuresAsSentence({
  name,
  detail,
  kind,
  lines
}: IFigures): string {
  return [
    detail ? `${name}, ${detail}` : name,
    kind,
    ...lines.map(([label, value]) => `${label} ${value}`)
  ].join('; ');
}

/**
 * The span of a lane's main thread, in µs.
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
