import type { ISubjectModel } from '../../interfaces/subject';
import type { WatchState } from '../../protocol/types';

/**
 * The watch that sees meanwhile what the report that is shown has none of; null where
 * nothing is watched, or its report is the one that is shown.
 */
export function watchedElsewhere({
  report,
  subject,
  watch
}: ISubjectModel): WatchState | null {
  return report && watch?.on && watch.subject !== subject ? watch : null;
}
