import type { EventOf } from './interface';
import type { Event, Events } from './types';

/**
 * The events that this version knows; a newer kernel may have more.
 */
const EVENTS: Record<keyof Events, true> = {
  subjects_changed: true,
  report_changed: true,
  job_changed: true,
  watch_changed: true,
  measured: true,
  sweep_changed: true,
  tiers_changed: true,
  choices_changed: true
};
const NAMES: ReadonlySet<string> = new Set(Object.keys(EVENTS));

/**
 * A message as an event; null if this version does not know it.
 */
export function eventOf(message: unknown): EventOf | null {
  return NAMES.has((message as Event).event) ? (message as EventOf) : null;
}
