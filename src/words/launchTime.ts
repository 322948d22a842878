import type { TranslationBundle } from '@jupyterlab/translation';
import type { Kernel, Launch, LaunchTime } from '../protocol/types';
import type { ISubjectModel } from '../tokens';
import { formatInterval, formatMicroseconds } from './format';
import { formatShare } from './format';

/**
 * A rate with three digits: `8.21 G`. Steps of a thousand, as data sheets have.
 */
export function formatRate(rate: number): string {
  const steps: readonly (readonly [number, string])[] = [
    [1e15, ' P'],
    [1e12, ' T'],
    [1e9, ' G'],
    [1e6, ' M'],
    [1e3, ' k']
  ];
  const [factor, unit] = steps.find(([least]) => rate >= least) ?? [1, ' '];
  return `${(rate / factor).toPrecision(3)}${unit}`;
}

/**
 * The share of the device's peak that a launch comes nearest to: what it is
 * bound by, if by either. Faster than the memory can be, it read from a cache.
 */
export function peakShare({
  bandwidth_share: bandwidth,
  compute_share: compute
}: Pick<LaunchTime, 'bandwidth_share' | 'compute_share'>): {
  readonly of: 'memory' | 'compute' | 'cache';
  readonly share: number;
} | null {
  if (bandwidth === null && compute === null) {
    return null;
  }
  if ((compute ?? 0) > (bandwidth ?? 0)) {
    return { of: 'compute', share: compute! };
  }
  const share = bandwidth ?? 0;
  return { of: share > 1 ? 'cache' : 'memory', share };
}

/**
 * All that was measured of a launch, a line each.
 */
export function launchTimeText(
  time: LaunchTime,
  trans: TranslationBundle
): string {
  const { bytes_per_s: bytes, operations_per_s: operations } = time;
  const calls = trans._n(
    'measured over %1 call',
    'measured over %1 calls',
    time.calls
  );
  const interval = time.interval_us && ` (${formatInterval(time.interval_us)})`;
  return [
    trans.__('%1%2, %3', formatMicroseconds(time.us), interval ?? '', calls),
    bytes !== null &&
      withShare(
        trans.__('%1B/s', formatRate(bytes)),
        time.bandwidth_share,
        (time.bandwidth_share ?? 0) > 1
          ? trans.__('of peak bandwidth (served from a cache)')
          : trans.__('of peak bandwidth'),
        trans
      ),
    operations !== null &&
      withShare(
        trans.__('%1FLOP/s', formatRate(operations)),
        time.compute_share,
        trans.__('of peak arithmetic'),
        trans
      ),
    time.how
  ]
    .filter(Boolean)
    .join('\n');
}

function withShare(
  rate: string,
  share: number | null,
  of: string,
  trans: TranslationBundle
): string {
  return share === null
    ? rate
    : trans.__('%1, %2 %3', rate, formatShare(share), of);
}

/**
 * Whether a closer look was taken at a variant: `kernels` times its launches.
 */
export function isStudied(
  model: ISubjectModel,
  variant: string,
  study: string
): boolean {
  return !!model.report?.variants
    .find(each => each.name === variant)
    ?.studied.includes(study);
}

/**
 * Line → the launch that stands there, in one of the wrappers.
 *
 * @param artifact - The wrapper's name, `python` or `backward.cpp`.
 */
export function launchesByLine(
  kernels: readonly Pick<Kernel, 'direction' | 'launches'>[],
  artifact: string
): ReadonlyMap<number, Launch> {
  const byLine = new Map<number, Launch>();
  for (const { direction, launches } of kernels) {
    const prefix = direction === 'backward' ? 'backward.' : '';
    for (const launch of launches) {
      if (prefix + launch.artifact === artifact) {
        byLine.set(launch.line, launch);
      }
    }
  }
  return byLine;
}

/**
 * What a launch takes at least on a device that is not there: reckoned, never
 * measured.
 */
export function estimateText(
  launch: EstimatedLaunch,
  title: string,
  trans: TranslationBundle
): string {
  const least = leastOf(launch);
  return least === null
    ? ''
    : trans.__(
        'Estimated, not measured: at least %1 on %2, limited by %3.',
        formatMicroseconds(least.us),
        title,
        {
          launch: trans.__('the launch'),
          memory: trans.__('memory bandwidth'),
          compute: trans.__('arithmetic')
        }[least.bound]
      );
}

type EstimatedLaunch = Pick<
  Launch,
  'estimated_us' | 'estimated_bound' | 'estimated_launch_us'
>;

/**
 * What a launch takes of a call at least, and by what: its kernel or, where that
 * takes longer, the launch. Null where it is not known.
 */
export function leastOf({
  estimated_us: us,
  estimated_bound: bound,
  estimated_launch_us: launching
}: EstimatedLaunch): {
  us: number;
  bound: 'launch' | 'memory' | 'compute';
} | null {
  if (us === null) {
    return null;
  }
  return launching !== null && launching > us
    ? { us: launching, bound: 'launch' }
    : { us, bound: bound || 'compute' };
}
