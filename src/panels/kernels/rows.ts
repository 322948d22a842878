import type { Kernel, Launch, SourceLine } from '../../protocol/types';

/**
 * A kernel as a row of the table.
 */
export interface IRow {
  /**
   * Unique in its variant.
   */
  readonly id: string;

  /**
   * The id of its compilation.
   */
  readonly compilation: string;
  readonly kernel: Kernel;

  /**
   * Its place in the order of the first launches.
   */
  readonly index: number;

  /**
   * The launches in the shown variant's own wrapper.
   */
  readonly launches: readonly Launch[];

  /**
   * Where the Python and the C++ wrapper launch it.
   */
  readonly python: readonly Launch[];
  readonly cpp: readonly Launch[];

  /**
   * Estimates of the own launches together.
   */
  readonly bytes: ISum;
  readonly operations: ISum;

  /**
   * Estimated operations for each estimated byte.
   */
  readonly intensity: number | null;

  /**
   * Lines of the user's code, each once, those of the notebook first; among them
   * first that of the operator that the kernel is for, last what called them.
   */
  readonly sources: readonly SourceLine[];

  /**
   * What a filter looks through, in lower case.
   */
  readonly text: string;
}

/**
 * What the launches that have an estimate sum to, so that rows add up to the
 * total.
 */
export interface ISum {
  /**
   * Null where no launch has an estimate.
   */
  readonly value: number | null;
  readonly least: number;
  readonly most: number;

  /**
   * How many launches have an estimate, of how many. Of none where this wrapper
   * does not launch the kernel: the value is then that of one launch.
   */
  readonly known: number;
  readonly of: number;
}

/**
 * What rows are shown; empty is all.
 */
export interface IFilter {
  readonly text: string;
  readonly language: string;
  readonly direction: string;
}

/**
 * The rows of a compilation's kernels.
 *
 * @param variant - The variant whose kernels they are.
 * @param compilation - The compilation's id.
 * @param files - The notebook's cells, by the names of their files.
 */
export function rowsOf(
  kernels: readonly Kernel[],
  variant: string,
  compilation: string,
  files: Readonly<Record<string, string>>
): IRow[] {
  const seen = new Map<string, number>();
  return kernels.map((kernel, index) => {
    const name = `${compilation} ${kernel.direction}.${kernel.name}`;
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    const of = (artifact: Launch['artifact']) =>
      kernel.launches.filter(launch => launch.artifact === artifact);
    const launches = kernel.launches.filter(
      launch => launch.variant === variant
    );
    const bytes = estimateOf(kernel, launches, 'estimated_bytes');
    const operations = estimateOf(kernel, launches, 'estimated_operations');
    const sources = distinct(kernel.sources, files);
    return {
      id: count ? `${name}.${count}` : name,
      compilation,
      kernel,
      index,
      launches,
      bytes,
      operations,
      python: of('python'),
      cpp: of('cpp'),
      // Of the same launches, or it would be of no launch.
      intensity:
        bytes.value &&
        operations.value !== null &&
        bytes.known === operations.known
          ? operations.value / bytes.value
          : null,
      sources,
      text: [
        kernel.name,
        ...kernel.ops,
        ...kernel.nodes,
        ...sources.map(({ code, function: name }) => `${name} ${code}`)
      ]
        .join('\n')
        .toLowerCase()
    };
  });
}

/**
 * The rows that a filter lets through, in their order.
 */
export function filtered(rows: readonly IRow[], filter: IFilter): IRow[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(
    ({ kernel, text }) =>
      (!filter.language || kernel.language === filter.language) &&
      (!filter.direction || kernel.direction === filter.direction) &&
      words.every(word => text.includes(word))
  );
}

/**
 * The name of the artifact that holds a kernel's source.
 */
export function artifactOf({ direction, name }: Kernel): string {
  return `kernel.${direction}.${name}`;
}

/**
 * What each column sums to, over all launches; null where nothing is known.
 */
export interface ITotals {
  readonly launches: number;
  readonly bytes: number | null;
  readonly operations: number | null;

  /**
   * How many launches have no estimate of their bytes.
   */
  readonly unknown: number;

  /**
   * In µs, of the launches that were measured; null where none was.
   */
  readonly us: number | null;

  /**
   * How many launches were not measured.
   */
  readonly untimed: number;

  /**
   * What the launches take at best on a device that is not there, in µs; null
   * where none has an estimate.
   */
  readonly least: number | null;
}

/**
 * Sum up rows.
 */
export function totalsOf(rows: readonly IRow[]): ITotals {
  const known = (field: Estimated) =>
    rows.flatMap(row => knownOf(row.launches, field));
  const launches = rows.reduce((count, row) => count + row.launches.length, 0);
  const bytes = known('estimated_bytes');
  return {
    launches,
    bytes: sum(bytes),
    operations: sum(known('estimated_operations')),
    unknown: launches - bytes.length,
    us: sum(rows.flatMap(({ kernel }) => kernel.time?.us ?? [])),
    least: sum(rows.flatMap(({ kernel }) => kernel.least?.us ?? [])),
    untimed:
      launches -
      rows.reduce(
        (count, { kernel }) => count + (kernel.time?.launches ?? 0),
        0
      )
  };
}

/**
 * How many launches are of each direction of a training step, in the rows' order.
 */
export function launchesByDirection(
  rows: readonly IRow[]
): ReadonlyMap<Kernel['direction'], number> {
  const counts = new Map<Kernel['direction'], number>();
  for (const { kernel, launches } of rows) {
    const { direction } = kernel;
    counts.set(direction, (counts.get(direction) ?? 0) + launches.length);
  }
  return counts;
}

type Estimated = 'estimated_bytes' | 'estimated_operations';

function estimateOf(
  kernel: Kernel,
  launches: readonly Launch[],
  field: Estimated
): ISum {
  return sumOf(
    launches,
    launches.length
      ? knownOf(launches, field)
      : [kernel[field]].flatMap(value => value ?? [])
  );
}

function sumOf(launches: readonly Launch[], known: readonly number[]): ISum {
  return {
    value: sum(known),
    least: known.reduce((least, value) => Math.min(least, value), Infinity),
    most: known.reduce((most, value) => Math.max(most, value), -Infinity),
    known: launches.length ? known.length : 0,
    of: launches.length
  };
}

function knownOf(launches: readonly Launch[], field: Estimated): number[] {
  return launches.flatMap(launch => launch[field] ?? []);
}

function sum(values: readonly number[]): number | null {
  return values.length
    ? values.reduce((total, value) => total + value, 0)
    : null;
}

/** In their order, those of the notebook's cells before all others. */
function distinct(
  sources: readonly SourceLine[],
  files: Readonly<Record<string, string>>
): SourceLine[] {
  const byPlace = new Map<string, SourceLine>();
  for (const source of sources) {
    const place = JSON.stringify([source.file, source.line]);
    if (!byPlace.has(place)) {
      byPlace.set(place, source);
    }
  }
  return [...byPlace.values()].sort(
    (a, b) => Number(b.file in files) - Number(a.file in files)
  );
}
