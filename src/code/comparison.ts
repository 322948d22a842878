import type { Side } from './artifacts';
import {
  highlight,
  launchedKernels,
  type IHighlight,
  type IMarked
} from './regions/selectionMarks';
import type { SideState } from './loader';
import { lineRegions } from './lines';
import { modesFor, type Mode } from './mode';
import { assignBars, type IBar } from './regions/linkBars';
import { matchRegions, type IAnchor } from './regions/anchors';
import { RegionIndex } from './regions/regions';
import type { ArtifactResult } from './types';

/** A text that a side shows, with its regions. */
export interface IText {
  result: ArtifactResult;
  index: RegionIndex;
}

/**
 * How the two texts correspond. Computed again whenever a text changes.
 */
export interface IComparison {
  texts: Record<Side, IText | null>;
  anchors: readonly IAnchor[];
  bars: ReadonlyMap<string, IBar | null>;
  /** The ways to show the texts, the best first. */
  modes: readonly Mode[];
  identical: boolean;
  launches: ILaunchCount;
}

/** How many launches the texts have in common. */
export interface ILaunchCount {
  aligned: number;
  left: number;
  right: number;
}

const indexes = new WeakMap<ArtifactResult, RegionIndex>();

/** Compare the texts of the two sides. */
export function compare(left: SideState, right: SideState): IComparison {
  const texts = { left: textOf(left), right: textOf(right) };
  const a = texts.left?.index;
  const b = texts.right?.index;
  const anchors = a && b ? matchRegions(a.regions, b.regions) : [];
  const launchLines = new Set(a?.launches.map(launch => launch.start));
  return {
    texts,
    anchors,
    bars: a && b ? assignBars(a.keys(), b.keys()) : new Map(),
    modes: modesFor(subjectOf(left), subjectOf(right), anchors.length),
    identical:
      !!texts.left &&
      !!texts.right &&
      texts.left.result.text === texts.right.result.text,
    launches: {
      aligned: anchors.filter(anchor => launchLines.has(anchor.left)).length,
      left: a?.launches.length ?? 0,
      right: b?.launches.length ?? 0
    }
  };
}

/** What a selection marks on both sides. */
export function marksOf(
  comparison: IComparison,
  selection: IMarked
): Record<Side, IHighlight> {
  const { left, right } = comparison.texts;
  const kernels = new Set<string>();
  for (const text of [left, right]) {
    if (text) {
      launchedKernels(selection, text.index).forEach(k => kernels.add(k));
    }
  }
  const marks = (text: IText | null): IHighlight =>
    text ? highlight(selection, text.index, kernels) : { strong: [], soft: [] };
  return { left: marks(left), right: marks(right) };
}

function textOf(state: SideState): IText | null {
  if (state.kind !== 'data') {
    return null;
  }
  const { result } = state;
  let index = indexes.get(result);
  if (!index) {
    const regions = [...result.regions, ...lineRegions(result)];
    index = new RegionIndex(regions, lineCount(result.text));
    indexes.set(result, index);
  }
  return { result, index };
}

function subjectOf(state: SideState) {
  return state.kind === 'data'
    ? { address: state.choice.address, artifact: state.result.artifact }
    : null;
}

/** The number of lines as an editor counts them: one more than there are line breaks. */
export function lineCount(text: string): number {
  return text.split(/\r\n?|\n/).length;
}
