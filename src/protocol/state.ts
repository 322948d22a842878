import type { EventOf } from './interface';
import type { GraphTiers, HelloResult, JobState } from './types';

/**
 * The graphs after an update of one of them, in the order in which they were
 * compiled.
 */
export function withGraph(
  graphs: readonly GraphTiers[],
  changed: GraphTiers
): GraphTiers[] {
  return [
    ...graphs.filter(({ number }) => number !== changed.number),
    changed
  ].sort((a, b) => a.number - b.number);
}

/**
 * The kernel's reply to `hello`, with the events that it pushed since the
 * request. The kernel may reply on a subshell while a cell runs, whose events
 * can overtake the reply.
 *
 * @param pushed - The events that arrived after the request, in their order.
 */
export function withEvents(
  state: HelloResult,
  pushed: readonly EventOf[]
): HelloResult {
  return pushed.reduce<HelloResult>((known, { event, data }) => {
    switch (event) {
      case 'subjects_changed':
        return { ...known, subjects: data.subjects };
      case 'job_changed':
        return { ...known, jobs: withJob(known.jobs, data.job) };
      case 'watch_changed':
        return { ...known, watching: data.watch };
      case 'tiers_changed':
        return { ...known, tiers: withGraph(known.tiers, data.graph) };
      case 'choices_changed':
        return { ...known, choices: data.choices };
      default:
        return known;
    }
  }, state);
}

/**
 * The jobs after an update of one of them.
 */
function withJob(jobs: readonly JobState[], changed: JobState): JobState[] {
  return jobs.some(({ id }) => id === changed.id)
    ? jobs.map(job => (job.id === changed.id ? changed : job))
    : [...jobs, changed];
}
