import type { ISubjectModel } from '../../interfaces/subject';
import type { WatchState } from '../../protocol/types';

/**
 * The running watch, if it sees what the shown report has none of; null if
 * nothing is watched, or the shown report is the watch's own.
 */
export function watchedElsewhere({
  report,
  subject,
  watch
}: ISubjectModel): WatchState | null {
  return report && watch?.on && watch.subject !== subject ? watch : null;
}
