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
 * How often the shown variant was compiled again, and how many distinct graph
 * breaks it has. The report's summary tells.
 */
export function causesOf(
  model: ISubjectModel,
  trans: TranslationBundle
): { recompiles: ICount; breaks: ICount } {
  const variant = model.report?.variants.find(
    each => each.name === model.variant
  );
  const compilations = variant?.compilations ?? [];
  const breaks = variant?.breaks ?? 0;
  const recompiles = compilations.filter(each => each.recompile.length).length;
  return {
    recompiles: {
      count: recompiles,
      text: trans._n('%1 recompile', '%1 recompiles', recompiles)
    },
    breaks: {
      count: breaks,
      text: trans._n('%1 graph break', '%1 graph breaks', breaks)
    }
  };
}

/**
 * What calls for a look at a view.
 */
export function countsOf(
  model: ISubjectModel,
  trans: TranslationBundle
): Partial<Record<ViewId, ICount>> {
  const causes = Object.values(causesOf(model, trans)).filter(
    each => each.count > 0
  );
  return causes.length > 0
    ? {
        recompiles: {
          count: causes.reduce((sum, each) => sum + each.count, 0),
          text: causes.map(each => each.text).join(', ')
        }
      }
    : {};
}
