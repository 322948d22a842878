import type { Autotuning, Choice } from '../../protocol/types';

/**
 * A candidate as a table row.
 */
export interface ICandidate {
  readonly choice: Choice;

  /**
   * Its time divided by the best time; null if it was not measured.
   */
  readonly ratio: number | null;

  /**
   * The length of its bar, as a fraction of the longest one.
   */
  readonly bar: number;
}

/**
 * The candidates of an autotuning, fastest first and those without a time last,
 * and the keys in which their configurations differ.
 */
export interface ITable {
  readonly candidates: readonly ICandidate[];

  /**
   * The keys of the configurations, differing ones first.
   */
  readonly columns: readonly string[];

  /**
   * How many of the keys differ between candidates.
   */
  readonly differing: number;

  /**
   * The best time, in µs; null if nothing was measured.
   */
  readonly best: number | null;
}

/**
 * Lays out the candidates of an autotuning.
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
    // A library call has no configuration, which does not count as a difference.
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
 * Equal autotunings: of the same operator for the same kind of inputs, with the
 * same result.
 */
export interface IEqual {
  readonly tuning: Autotuning;
  readonly count: number;

  /**
   * Their kernels, without duplicates.
   */
  readonly kernels: readonly string[];
}

/**
 * Autotunings, with equal skipped ones merged: the measured ones first, then
 * the others by the reason why they were skipped.
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
 * The number of autotunings in groups of equal ones.
 */
export function countOf(equal: readonly IEqual[]): number {
  return equal.reduce((sum, { count }) => sum + count, 0);
}

/**
 * The candidate that torch chose; undefined if none is marked.
 */
export function chosenOf({ choices }: Autotuning): Choice | undefined {
  return choices.find(({ chosen }) => chosen);
}

/**
 * The speedup of the choice over the best extern kernel, if both were measured:
 * 1.2 is 1.2 times as fast.
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
 * The total time of the measurements of some autotunings, in seconds; null if
 * none reports it.
 */
export function durationOf(tunings: readonly Autotuning[]): number | null {
  const known = tunings.filter(({ duration_s }) => duration_s !== null);
  return known.length
    ? known.reduce((sum, { duration_s }) => sum + duration_s!, 0)
    : null;
}
