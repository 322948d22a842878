import type {
  Compilation,
  KindTime,
  VariantReport
} from '../../protocol/types';
import { PHASE_KINDS } from '../../protocol/types';
import type { Run } from './timeline/lanes';

/**
 * The distribution of a run's time.
 */
export interface IRunTimes {
  readonly run: Run;

  /**
   * In the usual order of the kinds.
   */
  readonly kinds: readonly KindTime[];

  /**
   * The total, in µs: of the first call, if that was measured.
   */
  readonly whole: number;

  /**
   * The time that no phase accounts for, in µs.
   */
  readonly outside: number;
}

/**
 * The times of a run: of the first call, or of the shown compilations.
 *
 * @param isAll - Whether no compilation is selected.
 */
export function runTimes(
  run: Run,
  variant: VariantReport,
  shown: readonly Compilation[],
  isAll: boolean
): IRunTimes {
  const { compile_time: cold, warm_compile_time: warm } = variant;
  const measured = run === 'warm' ? warm : cold;
  if (isAll && measured && measured.kinds.length > 0) {
    const { kinds, total_s, outside_s } = measured;
    return { run, kinds, whole: total_s * 1e6, outside: outside_s * 1e6 };
  }
  const times = shown.flatMap(compilation =>
    run === 'warm' ? compilation.warm_phase_times : compilation.phase_times
  );
  const kinds = Object.keys(PHASE_KINDS).flatMap((kind): KindTime[] => {
    const same = times.filter(time => time.kind === kind);
    const sum = (field: 'self_us' | 'parallel_us') =>
      same.reduce((total, time) => total + time[field], 0);
    return same.length > 0
      ? [{ kind, self_us: sum('self_us'), parallel_us: sum('parallel_us') }]
      : [];
  });
  const whole = kinds.reduce((total, { self_us }) => total + self_us, 0);
  return { run, kinds, whole, outside: 0 };
}

/**
 * A kind's times; zeros if it did not occur.
 */
export function kindTime({ kinds }: IRunTimes, kind: string): KindTime {
  return (
    kinds.find(time => time.kind === kind) ?? {
      kind,
      self_us: 0,
      parallel_us: 0
    }
  );
}
