import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISubjectModel } from '../../interfaces/subject';
import type { ViewId } from '../views';
import { ICount, causesOf } from '../../words/causes';

/**
 * What calls for a look at a view.
 */
export function countsOf(
  model: ISubjectModel,
  trans: TranslationBundle
): Partial<Record<ViewId, ICount>> {
  const causes = Object.values(causesOf(model, trans)).filter(
    count => count.count > 0
  );
  return causes.length > 0
    ? {
        recompiles: {
          count: causes.reduce((sum, cause) => sum + cause.count, 0),
          text: causes.map(cause => cause.text).join(', ')
        }
      }
    : {};
}
