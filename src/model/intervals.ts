import type { Timing } from '../protocol/types';
import { FEWEST_FOR_INTERVAL } from '../protocol/types';

/**
 * Whether samples are too few for an interval of their median. Those that a
 * report no longer holds were enough.
 */
export function isFew(samples: readonly number[]): boolean {
  return samples.length > 0 && samples.length < FEWEST_FOR_INTERVAL;
}

/**
 * The 95 % interval of a timing's median; null where there is none.
 */
export function knownInterval(
  timing: Pick<Timing, 'samples_us' | 'interval_us'> | null
): [number, number] | null {
  return timing && !isFew(timing.samples_us) ? timing.interval_us : null;
}
