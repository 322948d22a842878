import type { ISubjectModel } from '../../interfaces/subject';
import type { ViewId } from '../views';
import { eventCountsOf } from '../../words/eventCounts';
import type { IBadge } from './tabTypes';

/**
 * The numbers that draw attention to a view.
 */
export function countsOf(
  model: ISubjectModel
): Partial<Record<ViewId, IBadge>> {
  const causes = Object.values(eventCountsOf(model)).flatMap(count =>
    count && count.number > 0 ? [count] : []
  );
  return causes.length > 0
    ? {
        recompiles: {
          number: causes.reduce((sum, cause) => sum + cause.number, 0),
          text: causes.map(cause => cause.text).join(', ')
        }
      }
    : {};
}
