import type {
  Measurement,
  RatioAtRound,
  Speedup,
  Timing,
  VariantReport
} from '../../protocol/types';

/**
 * The measurements of a variant, from the running measurement or the report.
 */
export interface ITimed {
  readonly name: string;
  readonly isBaseline: boolean;

  /**
   * In the order of the rounds, in µs per call.
   */
  readonly samples: readonly number[];

  /**
   * The round of the first sample: a variant may have joined later.
   */
  readonly first: number;

  /**
   * Null until the first round is complete.
   */
  readonly median: number | null;
  readonly interval: readonly [number, number] | null;

  /**
   * Whether there are too few samples for an interval: then it is their range.
   */
  readonly few: boolean;

  /**
   * The interval as shown in all views; empty until there is one.
   */
  readonly intervalText: string;
  readonly ratio: number | null;
  readonly ratioInterval: readonly [number, number] | null;

  /**
   * The ratio after each round, and after the last of them.
   */
  readonly running: readonly RatioAtRound[];

  /**
   * The speedup over the baseline, as shown in all views.
   */
  readonly speedup: Speedup | null;
  readonly calls: number;
  readonly warmup: number;
  readonly settled: boolean;
  readonly device: string;
  readonly host: number | null;
  readonly deviceTime: number | null;

  /**
   * Whether it belongs to the shown measurement: it has the same rounds as the
   * others.
   */
  readonly isInTurns: boolean;

  /**
   * The report's timing: how its state was kept, the number of threads. Null
   * until a build or a measurement has ended.
   */
  readonly timing: Timing | null;

  /**
   * The index of its color; -1 for the baseline.
   */
  readonly color: number;
}

/**
 * The rows to show: the measurement, and the variants that are only in the
 * report.
 */
export function rowsOf(
  measurement: Measurement | null,
  variants: readonly VariantReport[]
): readonly ITimed[] {
  const baseline = measurement?.baseline ?? 'eager';
  const others = variants.filter(({ name }) => name !== baseline);
  const colorOf = (name: string) =>
    others.findIndex(other => other.name === name);
  const measured = (measurement?.series ?? []).map((series): ITimed => ({
    name: series.name,
    isBaseline: series.name === baseline,
    samples: series.samples_us,
    first: series.first,
    median: series.median_us,
    interval: series.interval_us,
    few: series.few,
    intervalText: series.interval,
    ratio: series.ratio,
    ratioInterval: series.ratio_interval,
    running: runningOf(series, series.first + series.samples_us.length),
    speedup: series.speedup,
    calls: series.calls_per_sample,
    warmup: series.warmup_calls,
    settled: series.settled,
    device: series.device,
    host: series.host_us,
    deviceTime: series.device_us,
    isInTurns: true,
    timing: variants.find(({ name }) => name === series.name)?.timing ?? null,
    color: colorOf(series.name)
  }));
  const hasSamples = measured.some(row => row.samples.length > 0);
  const timed = variants.flatMap(({ name, timing }): ITimed[] => {
    const known = measured.find(row => row.name === name);
    if (!timing || (known && (hasSamples || known.median !== null))) {
      return [];
    }
    return [
      {
        name,
        isBaseline: name === timing.baseline,
        samples: timing.samples_us,
        first: 0,
        median: timing.median_us,
        interval: timing.interval_us,
        few: timing.few,
        intervalText: timing.interval,
        ratio: timing.ratio,
        ratioInterval: timing.ratio_interval,
        running: runningOf(
          timing,
          timing.first_round + timing.samples_us.length
        ),
        speedup: timing.speedup,
        calls: timing.calls_per_sample,
        warmup: timing.warmup_calls,
        settled: timing.settled,
        device: timing.device,
        host: timing.host_us,
        deviceTime: timing.device_us,
        isInTurns: !hasSamples,
        timing,
        color: colorOf(name)
      }
    ];
  });
  const rows = [
    ...measured.filter(({ name }) => !timed.some(row => row.name === name)),
    ...timed
  ];
  const place = ({ name, isBaseline }: ITimed) =>
    isBaseline ? -1 : variants.findIndex(variant => variant.name === name);
  return rows.sort((a, b) => place(a) - place(b));
}

/**
 * The ratios after fewer rounds, and the one after all rounds.
 */
function runningOf(
  timed: Pick<Timing, 'running' | 'ratio' | 'ratio_interval' | 'differs'>,
  rounds: number
): readonly RatioAtRound[] {
  const { running, ratio, ratio_interval: interval } = timed;
  const last = running[running.length - 1];
  return ratio === null ||
    interval === null ||
    timed.differs === null ||
    last?.rounds === rounds
    ? running
    : [...running, { rounds, ratio, interval }];
}
