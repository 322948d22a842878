import { formArtifact, kernelText, nearestText } from './forms';
import type {
  Artifact,
  CompilationSummary,
  ReportSummary,
  VariantSummary
} from './types';

/**
 * Names one text of a report.
 */
export interface IAddress {
  variant: string;
  compilation: string;
  artifact: string;
}

/** A side of the view. */
export type Side = 'left' | 'right';

/**
 * What a side can show, and what it does show.
 */
export interface IChoice {
  address: IAddress;
  variant: VariantSummary | null;
  compilation: CompilationSummary | null;
  /** Null when the compilation has no such artifact. */
  artifact: Artifact | null;
}

/** What a side shows until the user picks something, the best first. */
const DEFAULTS: Record<Side, string[]> = {
  left: ['python', 'cpp', 'aot', 'graph.post_grad', 'graph.dynamo'],
  right: ['cpp', 'python', 'aot', 'graph.post_grad', 'graph.dynamo']
};

/** A variant has one wrapper or the other: what stands in when the requested one is not there. */
const SUBSTITUTES: Record<string, string> = {
  python: 'cpp',
  cpp: 'python',
  shell: 'python',
  aot: 'cpp',
  'backward.python': 'backward.cpp',
  'backward.cpp': 'backward.python',
  'backward.shell': 'backward.python'
};

/**
 * Settle what a side shows.
 *
 * @param report The report.
 * @param side The side.
 * @param variant The variant's name; one that the report lacks is kept, so that the side can say so.
 * @param compilation The requested compile id; another one is taken where it does not exist.
 * @param chosen The artifact that the user picked, or null for the side's default. Where the
 * variant has it only in its other wrapper (`python`, `cpp`), that one is taken.
 */
export function choose(
  report: ReportSummary,
  side: Side,
  variant: string,
  compilation: string,
  chosen: string | null
): IChoice {
  const summary = report.variants.find(item => item.name === variant) ?? null;
  const compiled = pickCompilation(summary, compilation);
  const artifact = pickArtifact(compiled, side, chosen);
  return {
    address: {
      variant,
      compilation: compiled?.id ?? '',
      artifact: typeof artifact === 'string' ? artifact : artifact.name
    },
    variant: summary,
    compilation: compiled,
    artifact: typeof artifact === 'string' ? null : artifact
  };
}

/** The artifacts of a compilation by group, in a picker's order; empty groups are left out. */
export function grouped(
  compilation: CompilationSummary | null
): [Artifact['group'], Artifact[]][] {
  const groups: Artifact['group'][] = ['code', 'graph', 'kernel', 'raw'];
  return groups
    .map((group): [Artifact['group'], Artifact[]] => [
      group,
      (compilation?.artifacts ?? []).filter(item => item.group === group)
    ])
    .filter(([, artifacts]) => artifacts.length > 0);
}

export function sameAddress(a: IAddress | null, b: IAddress | null): boolean {
  return (
    a === b ||
    (!!a &&
      !!b &&
      a.variant === b.variant &&
      a.compilation === b.compilation &&
      a.artifact === b.artifact)
  );
}

function pickCompilation(
  variant: VariantSummary | null,
  id: string
): CompilationSummary | null {
  const compilations = variant?.compilations ?? [];
  return (
    compilations.find(item => item.id === id) ??
    // A frame without code (a graph break before the first operation) is a poor first sight.
    compilations.find(item => item.artifacts.some(a => a.group === 'code')) ??
    compilations[0] ??
    null
  );
}

/** The artifact, or the name of one that the compilation does not have. */
function pickArtifact(
  compilation: CompilationSummary | null,
  side: Side,
  chosen: string | null
): Artifact | string {
  const artifacts = compilation?.artifacts ?? [];
  const find = (name: string) => artifacts.find(item => item.name === name);
  if (chosen !== null) {
    const text = kernelText(compilation, chosen);
    return text
      ? formArtifact(nearestText(text))
      : (find(chosen) ?? find(SUBSTITUTES[chosen]) ?? chosen);
  }
  return (
    DEFAULTS[side].flatMap(name => find(name) ?? [])[0] ??
    artifacts[0] ??
    DEFAULTS[side][0]
  );
}
