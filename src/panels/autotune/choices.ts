import type { Autotuning, Choice } from '../../protocol/types';

/**
 * A candidate as a row.
 */
export interface ICandidate {
  readonly choice: Choice;

  /**
   * Its time over the best time; null where it was not measured.
   */
  readonly ratio: number | null;

  /**
   * The length of its bar, as part of the longest.
   */
  readonly bar: number;
}

/**
 * The candidates of an autotuning, the fastest first, those without a time
 * last; and what their configurations differ in.
 */
export interface ITable {
  readonly candidates: readonly ICandidate[];

  /**
   * The keys of the configurations, those that differ first.
   */
  readonly columns: readonly string[];

  /**
   * How many of the columns differ between candidates.
   */
  readonly differing: number;

  /**
   * The best time, in µs; null where nothing was measured.
   */
  readonly best: number | null;
}

/**
 * Lay out the candidates of an autotuning.
 */
export function tableOf({ choices }: Autotuning): ITable {
  const times = choices
    .map(({ time_us }) => time_us)
    .filter((time): time is number => time !== null && time > 0);
  const best = times.length ? Math.min(...times) : null;
  const longest = times.length ? Math.max(...times) : 1;
  const candidates = choices
    .map(choice => ({
      choice,
      ratio:
        best === null || choice.time_us === null ? null : choice.time_us / best,
      bar: choice.time_us === null ? 0 : choice.time_us / longest
    }))
    .sort(
      (a, b) =>
        (a.choice.time_us ?? Infinity) - (b.choice.time_us ?? Infinity) ||
        Number(b.choice.chosen) - Number(a.choice.chosen)
    );
  const values = new Map<string, Set<string>>();
  for (const { config } of choices) {
    for (const key of Object.keys(config)) {
      values.set(key, new Set());
    }
  }
  for (const [key, set] of values) {
    // A library call has no configuration: that is no difference.
    choices.forEach(({ config }) => key in config && set.add(config[key]));
  }
  const keys = [...values.keys()];
  const differ = keys.filter(key => values.get(key)!.size > 1);
  const same = keys.filter(key => values.get(key)!.size <= 1);
  return {
    candidates,
    columns: [...differ, ...same],
    differing: differ.length,
    best
  };
}

/**
 * Equal autotunings: of one operator for inputs of one kind, with one result.
 */
export interface IEqual {
  readonly tuning: Autotuning;
  readonly count: number;

  /**
   * The kernels that they are of, each once.
   */
  readonly kernels: readonly string[];
}

/**
 * Autotunings with equal ones of those that were skipped together: those that were
 * measured first, then the others by why they were skipped.
 */
export function equalOf(tunings: readonly Autotuning[]): IEqual[] {
  const groups = new Map<string, Autotuning[]>();
  tunings.forEach((tuning, index) => {
    const same = { ...tuning, kernel: '' };
    const key = JSON.stringify(tuning.skipped ? same : index);
    groups.set(key, [...(groups.get(key) ?? []), tuning]);
  });
  const reasons = ['', ...new Set(tunings.map(({ skipped }) => skipped))];
  return [...groups.values()]
    .map(equal => ({
      tuning: equal[0],
      count: equal.length,
      kernels: [...new Set(equal.map(({ kernel }) => kernel))].filter(Boolean)
    }))
    .sort(
      (a, b) =>
        reasons.indexOf(a.tuning.skipped) - reasons.indexOf(b.tuning.skipped)
    );
}

/**
 * How many autotunings equal ones are.
 */
export function countOf(equal: readonly IEqual[]): number {
  return equal.reduce((sum, { count }) => sum + count, 0);
}

/**
 * The candidate that torch took; undefined where none is marked.
 */
export function chosenOf({ choices }: Autotuning): Choice | undefined {
  return choices.find(({ chosen }) => chosen);
}

/**
 * How much the choice gains over the best extern kernel, where both were
 * measured: 1.2 is 1.2 times as fast.
 */
export function gainOf(tuning: Autotuning): number | null {
  const chosen = chosenOf(tuning);
  const externs = tuning.choices
    .filter(({ kind, time_us }) => kind === 'extern' && time_us !== null)
    .map(({ time_us }) => time_us!);
  return chosen?.time_us && chosen.kind !== 'extern' && externs.length
    ? Math.min(...externs) / chosen.time_us
    : null;
}

/**
 * How long all the measuring of some autotunings took, in seconds; null where
 * none says.
 */
export function durationOf(tunings: readonly Autotuning[]): number | null {
  const known = tunings.filter(({ duration_s }) => duration_s !== null);
  return known.length
    ? known.reduce((sum, { duration_s }) => sum + duration_s!, 0)
    : null;
}
