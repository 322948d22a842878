import type { TranslationBundle } from '@jupyterlab/translation';
import { isActive } from '../../../model/jobs';
import { haveAllFailed, isCompiled } from '../../../model/variants';
import type { ISubjectModel } from '../../../interfaces/subject';
import type { VariantSummary } from '../../../protocol/types';
import { whyNoCode } from '../../../words/jobs';
import type { ViewState } from './frame';

/**
 * The state of a view for which there is nothing to request from the kernel;
 * null if there is.
 *
 * @param isOfVariant - Whether the view shows a whole variant.
 */
export function whyNothing(
  model: ISubjectModel,
  shown: { readonly variant: string; readonly compilation: string },
  isOfVariant: boolean,
  trans: TranslationBundle
): Exclude<ViewState<never>, { kind: 'data' }> | null {
  const { report } = model;
  if (!report) {
    return whyNoReport(model, trans);
  }
  const variant = report.variants.find(({ name }) => name === shown.variant);
  if (!variant || (!isOfVariant && !shown.compilation)) {
    const { job } = model;
    if (model.pending || (isActive(job) && job?.subject === model.subject)) {
      return {
        kind: 'loading',
        label: trans.__('Generating code…'),
        since: isActive(job) ? model.jobSince : undefined
      };
    }
    if (
      !variant &&
      !report.problems.some(problem => problem.severity === 'error')
    ) {
      return { kind: 'empty', ...whyNoCode(report, model.isLive, trans) };
    }
    const problems = variant?.problems ?? report.problems;
    const failure = problems.find(problem => problem.severity === 'error');
    return failure
      ? { kind: 'error', problem: failure }
      : {
          kind: 'empty',
          what: trans.__('Nothing was compiled'),
          why:
            problems[0]?.what ??
            trans.__('torch.compile captured no operation.'),
          remedy:
            problems[0]?.remedy ||
            trans.__('Run the cell again, or pick another variant.')
        };
  }
  return null;
}

/**
 * What to select if the shown compilation has nothing; undefined if there is
 * nothing else to select.
 */
export function pickRemedy(
  { report, variant }: ISubjectModel,
  trans: TranslationBundle
): string | undefined {
  const variants = report?.variants.filter(isCompiled) ?? [];
  const shown = variants.find(({ name }) => name === variant);
  if (!shown || shown.compilations.length > 1) {
    return trans.__('Pick another compilation above.');
  }
  return shown.stage === 'failed' &&
    variants.some(({ stage }) => stage !== 'failed')
    ? trans.__('Pick another variant above.')
    : undefined;
}

/**
 * Why there is nothing to build, measure or study after a failure; empty if
 * there is.
 */
export function whyAllFailed(
  variants: readonly VariantSummary[],
  trans: TranslationBundle
): string {
  return haveAllFailed(variants)
    ? trans.__('All variants failed: the Overview says why.')
    : '';
}

/**
 * The action that fills a view which needs a build; undefined if nothing can be
 * built here.
 */
export function buildRemedy(
  { isLive, job, subject, report }: ISubjectModel,
  trans: TranslationBundle
): string | undefined {
  if (!isLive) {
    return undefined;
  }
  return isActive(job) && job?.subject === subject
    ? trans.__('It appears here when the build is done.')
    : whyAllFailed(report?.variants ?? [], trans) ||
        trans.__(
          'Build and time the variants, with the button in the sidebar.'
        );
}

/**
 * The state of a view of Inductor's data for a variant of another backend; null
 * for a variant of Inductor.
 */
export function whyOnlyInductor(
  { report }: ISubjectModel,
  name: string,
  trans: TranslationBundle
): Extract<ViewState<never>, { kind: 'empty' }> | null {
  const variant = report?.variants.find(summary => summary.name === name);
  const backend = variant?.requested.backend ?? 'inductor';
  return backend === 'inductor'
    ? null
    : {
        kind: 'empty',
        what: trans.__('Inductor only'),
        why: trans.__('The backend %1 does not produce this.', backend),
        remedy: trans.__('Pick a variant whose backend is inductor.')
      };
}

function whyNoReport(
  { status, subjects, problem }: ISubjectModel,
  trans: TranslationBundle
): Exclude<ViewState<never>, { kind: 'data' }> {
  switch (status.kind) {
    case 'connecting':
      return { kind: 'loading', label: trans.__('Connecting to the kernel…') };
    case 'busy':
      return {
        kind: 'loading',
        label: trans.__('Kernel busy, queued: continues after its cell')
      };
    case 'error':
      if (status.problem) {
        return { kind: 'error', problem: status.problem };
      }
      break;
    case 'ready':
      if (problem) {
        return { kind: 'error', problem };
      }
      return subjects.length > 0
        ? { kind: 'loading', label: trans.__('Loading the report…') }
        : {
            kind: 'empty',
            what: trans.__('Nothing inspected yet'),
            why: trans.__('What you compile appears here.'),
            remedy: trans.__(
              'Put %1 at the top of a cell and run it.',
              '%%compile'
            )
          };
  }
  if (problem) {
    return { kind: 'error', problem };
  }
  return {
    kind: 'empty',
    what: trans.__('No report to show'),
    why: trans.__('No kernel with compilescope is connected.'),
    remedy: trans.__('The Compilescope sidebar shows what is missing.')
  };
}
