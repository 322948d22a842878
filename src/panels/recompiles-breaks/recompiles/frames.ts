import type { Compilation, SourceLine } from '../../../protocol/types';

/**
 * All compilations of one frame, in chronological order.
 */
export interface IFrame {
  /**
   * The common part of a frame's compile ids: `0` of `0/0` and `0/1`.
   */
  readonly key: string;
  readonly where: SourceLine | null;
  readonly compilations: readonly Compilation[];
  readonly recompiles: number;

  /**
   * The time of all compilations, and of all but the first, in seconds; null if
   * torch logged none.
   */
  readonly cost: number | null;
  readonly recompileCost: number | null;
}

/**
 * The frame of a compile id.
 */
export function frameOf(id: string): string {
  const slash = id.lastIndexOf('/');
  return slash < 0 ? id : id.slice(0, slash);
}

/**
 * Compilations by frame, in the order of the frames' first compilations.
 */
export function framesOf(
  compilations: readonly Compilation[]
): readonly IFrame[] {
  const frames = new Map<string, Compilation[]>();
  for (const compilation of inTime(compilations)) {
    const key = frameOf(compilation.id);
    const frame = frames.get(key) ?? [];
    frame.push(compilation);
    frames.set(key, frame);
  }
  return [...frames].map(([key, ofFrame]) => {
    const recompiles = ofFrame.filter(isRecompile);
    return {
      key,
      where: ofFrame.find(compilation => compilation.frame)?.frame ?? null,
      compilations: ofFrame,
      recompiles: recompiles.length,
      cost: durationOf(ofFrame),
      recompileCost: durationOf(recompiles)
    };
  });
}

/**
 * Compilations in chronological order; those of unknown time stay behind the
 * one that preceded them.
 */
export function inTime(
  compilations: readonly Compilation[]
): readonly Compilation[] {
  let last = -Infinity;
  return compilations
    .map(compilation => {
      last = compilation.started_s ?? last;
      return { compilation, time: last };
    })
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
    .map(({ compilation }) => compilation);
}

/**
 * Whether a frame was compiled again; an attempt that failed, or that torch
 * gave up because of the recompile limit, does not count.
 */
function isRecompile({ recompile, outcome }: Compilation): boolean {
  return recompile !== null && outcome === 'compiled';
}

/**
 * The total time of compilations, in seconds; null if none has a time.
 */
function durationOf(compilations: readonly Compilation[]): number | null {
  const known = compilations.flatMap(({ duration_s }) =>
    duration_s === null ? [] : [duration_s]
  );
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
}

/**
 * What made torch compile again, in a few words; empty for the first
 * compilation.
 */
export function reasonOf({ recompile }: Compilation): string {
  return recompile?.causes[0]?.text ?? '';
}
