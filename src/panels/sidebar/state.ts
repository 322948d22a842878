import { DEFAULT_VARIANT, NO_CHOICES } from '../../model/variants';
import type { ISubjectModel } from '../../interfaces/subject';
import type { ISidebarState } from './types';

/**
 * The signals after which a sidebar is updated.
 */
export function signalsOf(model: ISubjectModel | null) {
  return model && !model.isDisposed
    ? [
        model.statusChanged,
        model.subjectsChanged,
        model.reportChanged,
        model.selectedVariantsChanged,
        model.requestedChanged,
        model.jobChanged,
        model.problemChanged,
        model.watchChanged,
        model.tiersChanged,
        model.choicesChanged,
        model.compilationChanged
      ]
    : [];
}

/**
 * The content of the sidebar for a model.
 *
 * @param canRunAgain - Whether the report's cell still exists.
 */
export function stateOf(
  model: ISubjectModel | null,
  canRunAgain = false
): ISidebarState {
  return {
    isLive: model?.isLive ?? true,
    isKept: model?.isKept ?? false,
    earlier: (model?.subjects ?? [])
      .map(subject => subject.subject.id)
      .filter(id => model?.isEarlier(id)),
    canRunAgain: canRunAgain && model?.isLive === false,
    status: model?.status ?? { kind: 'none' },
    subjects: model?.subjects ?? [],
    subject: model?.subject ?? null,
    choices: model?.choices ?? NO_CHOICES,
    report: model?.report ?? null,
    sides: model?.selectedVariants ?? { left: '', right: '' },
    requested: model?.requested ?? DEFAULT_VARIANT,
    pending: model?.pending ?? false,
    job: model?.job ?? null,
    jobSince: model?.jobSince ?? 0,
    problem: model?.problem ?? null,
    tiers: model?.tiers ?? [],
    watch: model?.watch ?? null,
    compilation: model?.compilation ?? ''
  };
}
