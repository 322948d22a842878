import { TranslationBundle } from '@jupyterlab/translation';
import { ISubjectModel } from '../tokens';

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
    ({ name }) => name === model.variant
  );
  const { recompiles, breaks } = variant ?? { recompiles: 0, breaks: 0 };
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
