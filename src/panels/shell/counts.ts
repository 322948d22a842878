import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISubjectModel } from '../../tokens';
import type { ViewId } from '../views';

/**
 * What stands beside a view's tab.
 */
export interface ICount {
  readonly count: number;

  /**
   * What is counted, for who hovers or hears it.
   */
  readonly text: string;
}

/**
 * How often the shown variant broke its graph and was compiled again: what
 * calls for a look at those views. The report's summary tells.
 */
export function countsOf(
  model: ISubjectModel,
  trans: TranslationBundle
): Partial<Record<ViewId, ICount>> {
  const variant = model.report?.variants.find(
    each => each.name === model.variant
  );
  const compilations = variant?.compilations ?? [];
  const breaks = compilations.reduce((sum, each) => sum + each.breaks, 0);
  const recompiles = compilations.filter(each => each.recompile.length).length;
  return {
    ...(breaks && {
      breaks: {
        count: breaks,
        text: trans._n('%1 graph break', '%1 graph breaks', breaks)
      }
    }),
    ...(recompiles && {
      recompiles: {
        count: recompiles,
        text: trans._n('%1 recompile', '%1 recompiles', recompiles)
      }
    })
  };
}
