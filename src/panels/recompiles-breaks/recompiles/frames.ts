import { STACK_VALUE } from '../../../protocol/types';
import type { Compilation, Failure, SourceLine } from '../../../protocol/types';

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
 * Whether a frame was compiled again.
 */
function isRecompile({ recompile }: Compilation): boolean {
  return recompile !== null;
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
 * What failed, as short as it can be said: `x.size(0): 8 → 12`.
 */
export function describeFailure(failure: Failure): string {
  const what = subjectOf(failure);
  return failure.old || failure.new
    ? `${what}: ${shortValue(failure.old)} → ${shortValue(failure.new)}`
    : what;
}

/**
 * A value that a guard saw: a class by its name, `<class 'float'>` as `float`.
 */
export function shortValue(value: string): string {
  const named = /^<class '(?:__main__\.)?([^']+)'>$/.exec(value);
  return named ? named[1] : value || '?';
}

/**
 * The line to go to for a failure. What is guarded by a line of torch's own, but
 * came with the frame's arguments, is the frame's matter.
 */
export function placeOf(
  { source, where }: Failure,
  frame: SourceLine | null
): SourceLine | null {
  const isOurs = frame !== null && !isOfTorch(frame.file);
  return where && isOurs && isOfTorch(where.file) && source.startsWith("L['")
    ? frame
    : where;
}

function isOfTorch(file: string): boolean {
  return /[\\/](?:site|dist)-packages[\\/]torch[\\/]/.test(file);
}

/**
 * Failures that say the same of several compilations' guards, once.
 */
export function mergeFailures(failures: readonly Failure[]): readonly {
  readonly failure: Failure;
  readonly compilations: readonly string[];
}[] {
  const merged = new Map<
    string,
    { failure: Failure; compilations: string[] }
  >();
  for (const failure of failures) {
    const { where, compilation } = failure;
    const key = JSON.stringify([
      describeFailure(failure),
      where?.file,
      where?.line
    ]);
    const known = merged.get(key) ?? { failure, compilations: [] };
    if (compilation && !known.compilations.includes(compilation)) {
      known.compilations.push(compilation);
    }
    merged.set(key, known);
  }
  return [...merged.values()];
}

/**
 * What a failure is about: `x.size(0)`, `self.scale`, `type(x)`.
 */
export function subjectOf(failure: Failure): string {
  const { kind, dimension } = failure;
  const source = shortSource(failure.source);
  if (!source) {
    return failure.guard || kind;
  }
  if (/^___stack\d+$/.test(source)) {
    return dimension === null
      ? STACK_VALUE
      : `${kind} ${dimension} of ${STACK_VALUE}`;
  }
  switch (kind) {
    case 'size':
    case 'stride':
      return dimension === null
        ? `${source}.${kind}()`
        : `${source}.${kind}(${dimension})`;
    case 'dtype':
    case 'device':
      return `${source}.${kind}`;
    case 'type':
      return `type(${source})`;
    case 'identity':
      return `id(${source})`;
    default:
      return source;
  }
}

/**
 * A source without Dynamo's scopes: `L['x'].weight` is `x.weight`.
 */
function shortSource(source: string): string {
  return source.replace(/\b[LG]\['([A-Za-z_]\w*)'\]/g, '$1');
}

/**
 * What made torch compile again, in a few words; empty for a first time.
 */
export function reasonOf({ recompile }: Compilation): string {
  if (!recompile) {
    return '';
  }
  const [failure] = recompile.failures;
  // torch writes the compile id before its reason, and the code behind it.
  return failure
    ? describeFailure(failure)
    : (recompile.reasons[0] ?? '').replace(/^\d+\/\d+: /, '').split(/\s+#/)[0];
}
