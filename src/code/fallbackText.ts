import { sameAddress, type IChoice } from './artifacts';
import type { CompilationSummary, VariantSummary } from './types';

/** What to show next to a text without a partner, the best first. */
const BESIDE = ['graph.post_grad', 'graph.dynamo'];

/**
 * What to show beside a text where a side's defaults lead to the same text again: the same
 * artifact of the frame's previous compilation, which shows what a recompile changed; without
 * one, the graph that the code was made from.
 *
 * @param left What the left side shows.
 * @param right What the right side's defaults lead to.
 * @param keepsCompilation Whether the user picked the right side's compilation.
 * @returns What the right side is to show; `right` itself where the sides differ, or where there
 * is nothing better.
 */
export function otherText(
  left: IChoice,
  right: IChoice,
  keepsCompilation: boolean
): IChoice {
  const { variant, compilation, artifact } = right;
  if (
    !variant ||
    !compilation ||
    !artifact ||
    !sameAddress(left.address, right.address)
  ) {
    return right;
  }
  const candidates = BESIDE.map(name => ({ compilation, name }));
  const before = keepsCompilation ? null : previous(variant, compilation);
  if (before) {
    candidates.unshift({ compilation: before, name: artifact.name });
  }
  for (const candidate of candidates) {
    const match = candidate.compilation.artifacts.find(
      a => a.name === candidate.name
    );
    const address = {
      variant: variant.name,
      compilation: candidate.compilation.id,
      artifact: candidate.name
    };
    if (match && !sameAddress(address, left.address)) {
      const { compilation } = candidate;
      return { address, variant, compilation, artifact: match };
    }
  }
  return right;
}

/** The previous compilation of the same frame; null for its first one. */
function previous(
  variant: VariantSummary,
  { id }: CompilationSummary
): CompilationSummary | null {
  const frame = frameOf(id);
  const ofFrame = variant.compilations.filter(
    compilation => frameOf(compilation.id) === frame
  );
  return (
    ofFrame[ofFrame.findIndex(compilation => compilation.id === id) - 1] ?? null
  );
}

/** The part of a compile id that names the frame: `0` of `0/1`. */
function frameOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf('/')));
}
