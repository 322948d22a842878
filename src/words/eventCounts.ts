import type { ISubjectModel } from '../interfaces/subject';
import type { Count } from '../protocol/types';

/**
 * How often the shown variant was compiled again, and how many graph breaks it
 * has, as on the Overview; null in a file of an earlier version.
 */
export function eventCountsOf(model: ISubjectModel): {
  recompiles: Count | null;
  breaks: Count | null;
} {
  const variant = model.report?.variants.find(
    ({ name }) => name === model.variant
  );
  return {
    recompiles: variant?.recompile_count ?? null,
    breaks: variant?.break_count ?? null
  };
}
