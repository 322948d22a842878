import type { Compilation, SourceLine } from '../../../protocol/types';

/**
 * All compilations of one frame, in the order of time.
 */
export interface IFrame {
  /**
   * What the compile ids of a frame have in common: `0` of `0/0` and `0/1`.
   */
  readonly key: string;
  readonly where: SourceLine | null;
  readonly compilations: readonly Compilation[];
  readonly recompiles: number;

  /**
   * What all compilations took, and all but the first, in seconds; null if torch
   * did not say.
   */
  readonly cost: number | null;
  readonly recompileCost: number | null;
}

/**
 * The frame that a compile id belongs to.
 */
export function frameOf(id: string): string {
  const slash = id.lastIndexOf('/');
  return slash < 0 ? id : id.slice(0, slash);
}

/**
 * Compilations by frame, the frame that was compiled first on top.
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
    const again = ofFrame.filter(isRecompile);
    return {
      key,
      where: ofFrame.find(compilation => compilation.frame)?.frame ?? null,
      compilations: ofFrame,
      recompiles: again.length,
      cost: durationOf(ofFrame),
      recompileCost: durationOf(again)
    };
  });
}

/**
 * Compilations in the order of time; those of unknown time stay behind the one
 * that they came after.
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
 * Whether a frame was compiled again; an attempt that failed, or that torch gave
 * up because of the recompile limit, is none.
 */
function isRecompile({ recompile, outcome }: Compilation): boolean {
  return recompile !== null && outcome === 'compiled';
}

/**
 * What compilations took together, in seconds; null if none says.
 */
function durationOf(compilations: readonly Compilation[]): number | null {
  const known = compilations.flatMap(({ duration_s }) =>
    duration_s === null ? [] : [duration_s]
  );
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
}

/**
 * What made torch compile again, in a few words; empty for a first time.
 */
export function reasonOf({ recompile }: Compilation): string {
  return recompile?.causes[0]?.text ?? '';
}
