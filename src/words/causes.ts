import { TranslationBundle } from '@jupyterlab/translation';
import { ISubjectModel } from '../interfaces/subject';

/**
 * What stands beside a view's tab.
 */
export interface ICount {
  readonly count: number;

  /**
   * What is counted, for who hovers or hears it.
   */
  readonly text: string;

  /**
   * The variant that it is of, where that is not the shown one: what the cell
   * compiled as it ran, where the shown variant has none.
   */
  readonly of?: string;
}

/**
 * How often the shown variant was compiled again, and how many distinct graph
 * breaks it has; where it has none, those of the cell, as on the Overview. The
 * report's summary tells.
 */
export function causesOf(
  model: ISubjectModel,
  trans: TranslationBundle
): { recompiles: ICount; breaks: ICount } {
  const variant = model.report?.variants.find(
    ({ name }) => name === model.variant
  );
  const record = model.report?.variants.find(
    ({ recorded, name }) => recorded && name !== model.variant
  );
  const count = (
    cause: 'recompiles' | 'breaks',
    text: (count: number) => string
  ): ICount => {
    const own = variant?.[cause] ?? 0;
    const recorded = record?.[cause] ?? 0;
    return own === 0 && record && recorded > 0
      ? {
          count: recorded,
          // Its name reads so: “in the cell”, “as written”.
          text: `${text(recorded)} ${record.name}`,
          of: record.name
        }
      : { count: own, text: text(own) };
  };
  return {
    recompiles: count('recompiles', number =>
      trans._n('%1 recompile', '%1 recompiles', number)
    ),
    breaks: count('breaks', number =>
      trans._n('%1 graph break', '%1 graph breaks', number)
    )
  };
}
