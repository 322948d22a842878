import { kernelFolds, type IKernelFold } from './folds';
import type { IKeys } from './linkBars';
import type { Region, SourceLine } from '../types';

/**
 * Answers, for one text, which regions stand where and what belongs together.
 *
 * Lines count from 1. A region that reaches past the end of the text is cut off there; one that
 * begins past it is dropped (the text and its regions may come from different torch versions). An
 * entry point holds everything else; only its first line stands for it.
 */
export class RegionIndex {
  constructor(regions: readonly Region[], lineCount: number) {
    this.lineCount = lineCount;
    this.regions = regions
      .filter(
        region =>
          region.start >= 1 &&
          region.start <= lineCount &&
          region.end >= region.start
      )
      .map(region => ({ ...region, end: lastLine(region, lineCount) }))
      .sort((a, b) => a.start - b.start || b.end - a.end);
    this.regions.forEach((region, i) => {
      if (region.key) {
        append(this._byKey, region.key, region);
      }
      if (region.kernel) {
        append(this._byKernel, region.kernel, region);
      }
      for (const source of region.sources) {
        append(this._bySource, sourceKey(source), region);
      }
    });
    this.launches = this.regions.filter(region => region.kind === 'launch');
    this.stops = this.regions.filter(
      region => region.kind === 'launch' || region.kind === 'line'
    );
    this.folds = kernelFolds(this.regions);
    this._folds = new Map(this.folds.map(fold => [fold.start, fold]));
    this._owner = paint(this.regions, lineCount);
  }

  readonly lineCount: number;

  /** All regions by start line; of two that start together, the longer one first. */
  readonly regions: readonly Region[];

  /** The kernel launches by line. */
  readonly launches: readonly Region[];

  /** The main regions: launches in a wrapper, lines in a kernel. */
  readonly stops: readonly Region[];

  /** The kernels that fold, by line. */
  readonly folds: readonly IKernelFold[];

  /** The kernel that folds at its first line. */
  foldAt(line: number): IKernelFold | null {
    return this._folds.get(line) ?? null;
  }

  /** The innermost region that holds a line. */
  at(line: number): Region | null {
    const owner = this._owner[line];
    return owner ? this.regions[owner - 1] : null;
  }

  withKey(key: string): readonly Region[] {
    return this._byKey.get(key) ?? [];
  }

  withKernel(kernel: string): readonly Region[] {
    return this._byKernel.get(kernel) ?? [];
  }

  withSource(source: Pick<SourceLine, 'file' | 'line'>): readonly Region[] {
    return this._bySource.get(sourceKey(source)) ?? [];
  }

  /**
   * The keys in the order of their first line: those of the main regions, and
   * all.
   */
  keys(): IKeys {
    return {
      main: this.stops.map(region => region.key).filter(Boolean),
      all: [...this._byKey.keys()]
    };
  }

  /** The next stop below a line, or above it when `step` is -1; null past the last. */
  stopFrom(line: number, step: 1 | -1): Region | null {
    if (step > 0) {
      return this.stops.find(stop => stop.start > line) ?? null;
    }
    for (let i = this.stops.length - 1; i >= 0; i--) {
      if (this.stops[i].start < line) {
        return this.stops[i];
      }
    }
    return null;
  }

  private _byKey = new Map<string, Region[]>();
  private _byKernel = new Map<string, Region[]>();
  private _bySource = new Map<string, Region[]>();
  private _folds: Map<number, IKernelFold>;
  private _owner: Int32Array;
}

function lastLine(region: Region, lineCount: number): number {
  return region.kind === 'entry'
    ? region.start
    : Math.min(region.end, lineCount);
}

/** Line → 1 + the place of the innermost region, or 0. */
function paint(regions: readonly Region[], lineCount: number): Int32Array {
  const owner = new Int32Array(lineCount + 2);
  const order = regions.map((_, i) => i);
  const size = (i: number) => regions[i].end - regions[i].start;
  order.sort((a, b) => size(b) - size(a));
  for (const i of order) {
    owner.fill(i + 1, regions[i].start, regions[i].end + 1);
  }
  return owner;
}

function sourceKey(source: Pick<SourceLine, 'file' | 'line'>): string {
  return `${source.line}:${source.file}`;
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (!list) {
    map.set(key, [value]);
  } else if (list[list.length - 1] !== value) {
    list.push(value);
  }
}
