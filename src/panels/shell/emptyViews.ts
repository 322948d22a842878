import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReportSummary } from '../../protocol/types';
import type { ISubjectModel } from '../../interfaces/subject';
import type { IView, ViewId } from '../views';

/**
 * The views that have nothing to show for the model's report, and why; none
 * without a report.
 */
export function emptyViewsOf(
  views: readonly IView[],
  model: ISubjectModel,
  trans: TranslationBundle
): Partial<Record<ViewId, string>> {
  const { report, isLive } = model;
  if (!report) {
    return {};
  }
  const filled = filledIn(report);
  const reasons: Partial<Record<ViewId, string>> = {};
  for (const { id, about, nothing, makes } of views) {
    const isMade = makes && isLive;
    if (about && !isMade && !about.some(field => filled.has(field))) {
      reasons[id] = nothing?.(trans) ?? trans.__('It is empty');
    }
  }
  return reasons;
}

/**
 * The views that have a tab: those outside the group `more`, those for which
 * the report has data, and the open one.
 */
export function tabsOf(
  views: readonly IView[],
  current: ViewId,
  { report }: Pick<ISubjectModel, 'report'>
): readonly IView[] {
  const filled = report ? filledIn(report) : new Set<string>();
  return views.filter(
    ({ id, group, about, isTabWhenFilled }) =>
      group !== 'more' ||
      id === current ||
      (isTabWhenFilled && about?.some(field => filled.has(field)))
  );
}

/**
 * The fields that have data: the report's own, and those of its variants and
 * their compilations.
 */
function filledIn(report: ReportSummary): ReadonlySet<string> {
  const fields = Object.entries(report)
    .filter(([, value]) => value !== null)
    .map(([field]) => field);
  return new Set([
    ...fields,
    ...report.variants.flatMap(variant => variant.filled)
  ]);
}
