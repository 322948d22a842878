import type { TranslationBundle } from '@jupyterlab/translation';
import { isKernelBusy } from '../model/jobs';
import { isCompiled } from '../model/variants';
import type { JobState, ReportSummary } from '../protocol/types';

/**
 * The current activity of a job.
 */
export function stepText(job: JobState, trans: TranslationBundle): string {
  if (job.state === 'queued') {
    return job.aside
      ? trans.__('waiting for another compilation')
      : trans.__('kernel busy, queued');
  }
  return job.step || trans.__('working');
}

/**
 * What else waits while a job occupies the kernel's main thread; empty if nothing does.
 */
export function waitingText(job: JobState, trans: TranslationBundle): string {
  return job.state === 'running' && isKernelBusy(job)
    ? trans.__('cells wait until it ends')
    : '';
}

/**
 * What remains after a job was canceled.
 */
export function stoppedText(
  job: JobState,
  report: ReportSummary | null,
  trans: TranslationBundle
): string {
  if (job.kind === 'measure') {
    return trans.__('The measurement is paused; results so far are kept.');
  }
  const variants = report?.variants.filter(isCompiled) ?? [];
  const names = (stage: string) =>
    variants
      .filter(variant => variant.stage === stage)
      .map(variant => variant.name)
      .join(', ');
  const built = names('built');
  const sources = names('sources');
  const nothing = sources
    ? trans.__('Nothing is built; the generated code is kept.')
    : trans.__('No code was generated.');
  return [
    trans.__('Canceled.'),
    built ? trans.__('Built: %1.', built) : nothing,
    built && sources && trans.__('Code only: %1.', sources)
  ]
    .filter(Boolean)
    .join(' ');
}

/**
 * Whether a canceled job can be resumed.
 */
export function canResume(job: JobState, subject: string | null): boolean {
  return (
    job.state === 'cancelled' && job.kind === 'build' && job.subject === subject
  );
}

/**
 * Why a report without errors has no variants, and what to do about it.
 *
 * @param isLive - Whether a kernel can still generate code.
 */
export function whyNoCode(
  { sweep, subject }: Pick<ReportSummary, 'sweep' | 'subject'>,
  isLive: boolean,
  trans: TranslationBundle
): { readonly what: string; readonly why: string; readonly remedy: string } {
  return sweep !== null && !isLive
    ? {
        what: trans.__('The code of “%1” was not kept.', subject.name),
        why: trans.__(
          'A sweep keeps what it measured, not the code. The results are in the view “Compare & deploy”.'
        ),
        remedy: trans.__(
          'For the code, run %1 in a notebook.',
          'import compilescope; compilescope.inspect(fn, args)'
        )
      }
    : {
        what: trans.__('No code was generated for “%1”.', subject.name),
        why: trans.__('Code generation was canceled.'),
        remedy: isLive
          ? trans.__('Press “Resume” above, or run the cell again.')
          : trans.__('Run the cell again.')
      };
}
