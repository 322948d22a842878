import type { Phase } from '../../../protocol/types';
import { kindOf } from '../kinds';

/**
 * Ends closer than this, in µs, are treated as equal, because they were
 * rounded.
 */
const EPSILON = 0.01;

/**
 * A phase with its position relative to the others.
 */
export interface ISpan {
  readonly name: string;
  readonly kind: string;
  readonly detail: string;
  readonly track: number;

  /**
   * From the lane's origin, in µs.
   */
  readonly start: number;
  readonly duration: number;

  /**
   * The duration without the children on the same track, in µs; null in a file
   * of an earlier version.
   */
  readonly self: number | null;

  /**
   * The number of enclosing phases, on any track.
   */
  readonly level: number;

  /**
   * The row of its lane in which it is drawn.
   */
  readonly row: number;

  /**
   * The index of its band among the flame chart's bands.
   */
  readonly band: number;

  /**
   * Indices in the list of spans; -1 is none.
   */
  readonly parent: number;
  readonly children: readonly number[];
}

/**
 * Adjacent rows of one track.
 */
export interface IBand {
  readonly track: number;
  readonly row: number;
  readonly rows: number;
}

/**
 * The phases of one compilation, laid out.
 */
export interface IFlame {
  /**
   * Parents before their children, by start.
   */
  readonly spans: readonly ISpan[];

  /**
   * The number of rows.
   */
  readonly rows: number;

  /**
   * Rows in which spans nest, in display order: one band for a track, more if
   * spans of the track overlap.
   */
  readonly bands: readonly IBand[];

  /**
   * The track of the first phase: the thread that the call waits for.
   */
  readonly main: number;

  /**
   * The latest end, in µs from the origin.
   */
  readonly end: number;
}

interface IMutable extends ISpan {
  start: number;
  duration: number;
  row: number;
  band: number;
  children: number[];
  /** The depth on its own track, below the outermost phase of that track. */
  depth: number;
  /** The outermost phase of its track that contains it. */
  top: number;
}

/**
 * Lays out trees of phases as a flame chart: a row for each depth, tracks one
 * below the other. Spans of one track that overlap without nesting get separate
 * rows, so that none is hidden.
 *
 * @param phases - The outermost phases.
 * @param origin - The zero of the axis, in µs.
 */
export function layOut(phases: readonly Phase[], origin = 0): IFlame {
  const spans = flatten(phases, origin);
  const main = spans[0]?.track ?? 0;
  const byTrack = new Map<number, IMutable[]>();
  for (const span of spans) {
    const known = byTrack.get(span.track);
    if (known) {
      known.push(span);
    } else {
      byTrack.set(span.track, [span]);
    }
  }
  const order = [...byTrack.keys()].sort(
    (a, b) => Number(b === main) - Number(a === main) || a - b
  );
  const bands: IBand[] = [];
  for (const track of order) {
    stack(spans, byTrack.get(track)!, bands);
  }
  const last = bands[bands.length - 1];
  const rows = last ? last.row + last.rows : 0;
  const end = spans.reduce(
    (latest, span) => Math.max(latest, span.start + span.duration),
    0
  );
  return { spans, rows, bands, main, end };
}

/**
 * The earliest start, in µs; 0 without phases.
 */
export function earliest(phases: readonly Phase[]): number {
  return phases.reduce(
    (first, phase) => Math.min(first, phase.start_us),
    phases.length ? Infinity : 0
  );
}

function flatten(phases: readonly Phase[], origin: number): IMutable[] {
  const spans: IMutable[] = [];
  // Not recursive: the depth of the phases is up to torch.
  const open: { phase: Phase; parent: number }[] = [...byStart(phases)]
    .reverse()
    .map(phase => ({ phase, parent: -1 }));
  while (open.length > 0) {
    const { phase, parent } = open.pop()!;
    const index = spans.length;
    const around = spans[parent];
    const isInside = around?.track === phase.track;
    let start = phase.start_us - origin;
    let end = start + Math.max(0, phase.duration_us);
    if (isInside) {
      // Times are rounded: a child must not extend beyond its parent.
      const last = around.start + around.duration;
      start = Math.min(Math.max(start, around.start), last);
      end = Math.min(Math.max(end, start), last);
    }
    spans.push({
      name: phase.name,
      kind: kindOf(phase.kind),
      detail: phase.detail,
      track: phase.track,
      start,
      duration: end - start,
      self: phase.self_us,
      level: around ? around.level + 1 : 0,
      row: 0,
      band: 0,
      parent,
      children: [],
      depth: isInside ? around.depth + 1 : 0,
      top: isInside ? around.top : index
    });
    around?.children.push(index);
    for (const child of byStart(phase.children).reverse()) {
      open.push({ phase: child, parent: index });
    }
  }
  return spans;
}

/** Assigns rows to the spans of a track, below the existing bands. */
function stack(
  spans: readonly IMutable[],
  track: readonly IMutable[],
  bands: IBand[]
): void {
  const heights = new Map<IMutable, number>();
  for (const span of track) {
    const top = spans[span.top];
    heights.set(top, Math.max(heights.get(top) ?? 0, span.depth + 1));
  }
  const open: { end: number; rows: number; members: IMutable[] }[] = [];
  for (const top of [...heights.keys()].sort((a, b) => a.start - b.start)) {
    let band = open.find(candidate => candidate.end <= top.start + EPSILON);
    if (!band) {
      band = { end: 0, rows: 0, members: [] };
      open.push(band);
    }
    band.end = top.start + top.duration;
    band.rows = Math.max(band.rows, heights.get(top)!);
    band.members.push(top);
  }
  for (const { rows, members } of open) {
    const above = bands[bands.length - 1];
    const row = above ? above.row + above.rows : 0;
    members.forEach(member => {
      member.row = row;
      member.band = bands.length;
    });
    bands.push({ track: track[0].track, row, rows });
  }
  for (const span of track) {
    const top = spans[span.top];
    span.band = top.band;
    span.row = bands[top.band].row + span.depth;
  }
}

function byStart(phases: readonly Phase[]): Phase[] {
  return [...phases].sort(
    (a, b) => a.start_us - b.start_us || b.duration_us - a.duration_us
  );
}
