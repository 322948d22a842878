import type { Compilation, Phase } from '../../../protocol/types';
import type { IKernelPhases } from './loadPhases';
import { earliest, layOut, type IFlame, type ISpan } from './spans';

/**
 * Whether the caches were empty or filled; `recorded` for code compiled by its
 * own calls, with the caches as they were.
 */
export type Run = 'cold' | 'warm' | 'recorded';

/**
 * Where a compilation starts on the axis: at its start time, or at 0 like all
 * others, for comparison.
 */
export type Align = 'time' | 'start';

/**
 * The phases of a compilation, or the steps of its kernels, at their place on
 * the axis.
 */
export interface ILane {
  readonly id: string;
  readonly of: 'phases' | 'kernels';

  /**
   * later: another call of the code that the cold run built.
   */
  readonly run: Run | 'later';
  readonly flame: IFlame;
}

/**
 * The lanes of a waterfall, one below the other on one axis.
 */
export interface IWaterfall {
  readonly lanes: readonly ILane[];

  /**
   * The length of the axis, in µs.
   */
  readonly total: number;
}

/**
 * A span of a lane.
 */
export interface IPlace {
  readonly lane: number;
  readonly span: number;
}

/**
 * Lays out compilations, each with its runs next to each other, and with its
 * kernels below the cold run. Cold and warm each start at 0, on one scale.
 *
 * @param kernels - Kernels whose compilation is unknown come last.
 */
export function waterfall(
  compilations: readonly Pick<Compilation, 'id' | 'phases' | 'warm_phases'>[],
  runs: readonly Run[],
  align: Align,
  kernels: readonly IKernelPhases[] = []
): IWaterfall {
  const phasesOf = (compilation: (typeof compilations)[number], run: Run) =>
    run === 'warm' ? compilation.warm_phases : compilation.phases;
  const firsts = runs.map(run =>
    compilations
      .map(compilation => phasesOf(compilation, run))
      .filter(phases => phases.length > 0)
      .reduce((first, phases) => Math.min(first, earliest(phases)), Infinity)
  );
  const lanes = compilations.flatMap(compilation =>
    runs.flatMap((run, index): ILane[] => {
      const phases = phasesOf(compilation, run);
      const origin = align === 'time' ? firsts[index] : earliest(phases);
      return [
        ...lane(compilation.id, 'phases', run, phases, origin),
        ...(run === 'warm' ? [] : kernelLanes(compilation.id, kernels, origin))
      ];
    })
  );
  const first = runs.findIndex(run => run !== 'warm');
  if (first >= 0) {
    lanes.push(...kernelLanes('', kernels, firsts[first]));
  }
  const total = lanes.reduce((end, lane) => Math.max(end, lane.flame.end), 0);
  return { lanes, total };
}

/**
 * Whether two waterfalls have the same lanes: an index means the same lane in
 * both.
 */
export function haveSameLanes(before: IWaterfall, now: IWaterfall): boolean {
  return (
    before.total === now.total &&
    before.lanes.length === now.lanes.length &&
    before.lanes.every((lane, index) => {
      const other = now.lanes[index];
      return (
        lane.id === other.id &&
        lane.of === other.of &&
        lane.run === other.run &&
        lane.flame.spans.length === other.flame.spans.length
      );
    })
  );
}

function kernelLanes(
  id: string,
  kernels: readonly IKernelPhases[],
  origin: number
): ILane[] {
  return kernels
    .filter(({ compilation }) => compilation === id)
    .flatMap(({ first, later }) => [
      ...lane(id, 'kernels', 'cold', first, origin),
      ...lane(id, 'kernels', 'later', later, 0)
    ]);
}

/** A lane, unless it would be empty. */
function lane(
  id: string,
  of: ILane['of'],
  run: ILane['run'],
  phases: readonly Phase[],
  origin: number
): ILane[] {
  if (phases.length === 0) {
    return [];
  }
  const flame = layOut(phases, origin);
  // The call does not necessarily wait for the first step of a kernel.
  return [
    { id, of, run, flame: of === 'kernels' ? { ...flame, main: 0 } : flame }
  ];
}

/**
 * Whether compilations are so far apart that they would be slivers on a common
 * axis.
 */
export function areFarApart(
  compilations: readonly { readonly phases: readonly Phase[] }[]
): boolean {
  const runs = compilations
    .map(({ phases }) => phases)
    .filter(phases => phases.length > 0);
  if (runs.length < 2) {
    return false;
  }
  const ends = runs.map(phases =>
    Math.max(...phases.map(phase => phase.start_us + phase.duration_us))
  );
  const starts = runs.map(earliest);
  const busy = ends.reduce((sum, end, index) => sum + end - starts[index], 0);
  return Math.max(...ends) - Math.min(...starts) > 4 * busy;
}

/**
 * The span at an index; undefined if there is none.
 */
export function spanAt(
  { lanes }: IWaterfall,
  place: IPlace | null
): ISpan | undefined {
  return place ? lanes[place.lane]?.flame.spans[place.span] : undefined;
}

/**
 * The direction of a step from one span to another.
 */
export type Step = 'parent' | 'child' | 'next' | 'previous' | 'first' | 'last';

/**
 * The span that a step leads to; the same span at the end. After the last
 * outermost span of a lane comes the first span of the next lane.
 */
export function walk(
  chart: IWaterfall,
  place: IPlace | null,
  step: Step
): IPlace | null {
  const { lanes } = chart;
  if (lanes.length === 0) {
    return null;
  }
  const span = spanAt(chart, place);
  if (!place || !span || step === 'first') {
    return { lane: 0, span: 0 };
  }
  const { lane } = place;
  const { spans } = lanes[lane].flame;
  switch (step) {
    case 'parent':
      return span.parent < 0 ? place : { lane, span: span.parent };
    case 'child':
      return span.children.length ? { lane, span: span.children[0] } : place;
    case 'last':
      return {
        lane: lanes.length - 1,
        span: lastRoot(lanes.length - 1, chart)
      };
    default: {
      const siblings =
        span.parent < 0 ? roots(spans) : spans[span.parent].children;
      const by = step === 'next' ? 1 : -1;
      const sibling = siblings[siblings.indexOf(place.span) + by];
      if (sibling !== undefined) {
        return { lane, span: sibling };
      }
      const other = lane + by;
      if (span.parent >= 0 || !lanes[other]) {
        return place;
      }
      return { lane: other, span: by > 0 ? 0 : lastRoot(other, chart) };
    }
  }
}

/**
 * The siblings of a span, and its position among them, starting at 1.
 */
export function rank(
  chart: IWaterfall,
  place: IPlace
): { readonly position: number; readonly size: number } {
  const { spans } = chart.lanes[place.lane].flame;
  const { parent } = spans[place.span];
  const siblings = parent < 0 ? roots(spans) : spans[parent].children;
  return { position: siblings.indexOf(place.span) + 1, size: siblings.length };
}

function roots(spans: readonly ISpan[]): number[] {
  return spans.flatMap((span, index) => (span.parent < 0 ? [index] : []));
}

function lastRoot(lane: number, { lanes }: IWaterfall): number {
  return roots(lanes[lane].flame.spans).pop() ?? 0;
}
