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
   * Its position in the order of the first launches.
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
   * The sums of the estimates of its own launches.
   */
  readonly bytes: ISum;
  readonly operations: ISum;

  /**
   * Estimated operations per estimated byte.
   */
  readonly intensity: number | null;

  /**
   * Lines of the user's code without duplicates, those of the notebook first:
   * the line of the operator that the kernel is for precedes the others, and
   * the lines that called them come last.
   */
  readonly sources: readonly SourceLine[];

  /**
   * The text that a filter searches, in lower case.
   */
  readonly text: string;
}

/**
 * The sum over the launches that have an estimate, so that rows add up to the
 * total.
 */
export interface ISum {
  /**
   * Null if no launch has an estimate.
   */
  readonly value: number | null;
  readonly least: number;
  readonly most: number;

  /**
   * The number of launches with an estimate, and of all launches. Both are 0 if
   * this wrapper does not launch the kernel: the value is then that of one
   * launch.
   */
  readonly known: number;
  readonly of: number;
}

/**
 * The filter of rows; empty for all rows.
 */
export interface IFilter {
  readonly text: string;
  readonly language: string;
  readonly direction: string;
}

/**
 * The rows of a compilation's kernels.
 *
 * @param variant - The variant of the kernels.
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
      // Only if both are of the same launches; otherwise the ratio describes none.
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
 * The rows that pass a filter, in their order.
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
 * The sum of each column over all launches; null if unknown.
 */
export interface ITotals {
  readonly launches: number;
  readonly bytes: number | null;
  readonly operations: number | null;

  /**
   * The number of launches without an estimate of their bytes.
   */
  readonly unknown: number;

  /**
   * In µs, over the launches that were measured; null if none was.
   */
  readonly us: number | null;

  /**
   * The number of launches that were not measured.
   */
  readonly untimed: number;

  /**
   * The lower bound of the launches' time on a device that is not available, in
   * µs; null if none has an estimate.
   */
  readonly least: number | null;
}

/**
 * Sums up rows.
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
 * The number of launches of each direction of a training step, in the order of
 * the rows.
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

/** In their order, those of the notebook's cells first. */
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
