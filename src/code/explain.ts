import type { TranslationBundle } from '@jupyterlab/translation';
import { problem } from '../protocol/client';
import { whyNoCode } from '../words/jobs';
import type { IChoice } from './artifacts';
import type { ConnectionKind, Problem, ReportSummary } from './types';

interface IKernelState {
  readonly pending: boolean;
  readonly isLive: boolean;
}

/**
 * Why a side has nothing to show, where that is known without asking the kernel.
 *
 * @param choice What the side is to show.
 * @param report The report that it is chosen from.
 * @param kernel Whether the kernel is at work on the report, and whether it could be.
 * @param trans The translator.
 * @returns The reason, or null when the text can be asked for.
 */
export function whyNothing(
  choice: IChoice,
  report: ReportSummary,
  kernel: IKernelState,
  trans: TranslationBundle
): Problem | null {
  const { pending } = kernel;
  const { variant, compilation, address } = choice;
  if (!report.variants.length) {
    return whyNoVariants(report, kernel, trans);
  }
  if (!variant) {
    return pending
      ? info(
          trans.__('Generating code of “%1”…', address.variant),
          trans.__('It appears here as soon as torch has generated it.')
        )
      : info(
          trans.__('The report has no variant “%1”.', address.variant),
          '',
          trans.__('Pick another variant above.')
        );
  }
  if (compilation) {
    return null;
  }
  const failure = variant.problems.find(item => item.severity === 'error');
  if (failure) {
    return failure;
  }
  if (variant.requested.backend === null) {
    return info(
      trans.__('No code was generated for “%1”.', variant.name),
      trans.__('This variant runs eagerly, without torch.compile.'),
      trans.__('Pick a compiled variant above.')
    );
  }
  return (
    variant.problems[0] ??
    info(
      trans.__('Nothing was compiled for “%1”.', variant.name),
      trans.__('torch.compile captured no operation.'),
      trans.__('Check that the call works on tensors.')
    )
  );
}

/**
 * Why a report has nothing yet: it is being made, it failed, or the work on it was stopped.
 */
function whyNoVariants(
  report: ReportSummary,
  { pending, isLive }: IKernelState,
  trans: TranslationBundle
): Problem {
  if (pending) {
    return info(
      trans.__('Generating code…'),
      trans.__('It appears here as soon as torch has generated it.')
    );
  }
  const failure = report.problems.find(item => item.severity === 'error');
  if (failure) {
    return failure;
  }
  const { what, why, remedy } = whyNoCode(report, isLive, trans);
  return info(what, why, remedy);
}

/**
 * What a side says while there is no report at all.
 *
 * @param status How the model stands with its kernel.
 * @param trans The translator.
 */
export function whyEmpty(
  status: ConnectionKind,
  trans: TranslationBundle
): Problem {
  switch (status) {
    case 'ready':
      return info(
        trans.__('Nothing inspected yet'),
        trans.__('The generated code of what you compile appears here.'),
        trans.__('Put %1 at the top of a cell and run it.', '%%compile')
      );
    case 'connecting':
      return info(trans.__('Waiting for the kernel…'));
    case 'busy':
      return info(
        trans.__('Waiting for the kernel…'),
        trans.__('It is running a cell and answers when the cell is done.')
      );
    default:
      return info(
        trans.__('No report to show'),
        trans.__('No kernel with compilescope is connected.'),
        trans.__('The Compilescope sidebar shows what is missing.')
      );
  }
}

/**
 * What went wrong, out of whatever a request was rejected with: the kernel's own problem, carried
 * by the error or bare, or else the error's message.
 */
export function problemOf(reason: unknown): Problem {
  const carried = (reason as { problem?: unknown } | null)?.problem;
  for (const candidate of [carried, reason]) {
    if (isProblem(candidate)) {
      return candidate;
    }
  }
  const what = reason instanceof Error ? reason.message : String(reason);
  return problem({ what });
}

function isProblem(value: unknown): value is Problem {
  const problem = value as Partial<Problem> | null | undefined;
  return (
    typeof problem?.what === 'string' && typeof problem.severity === 'string'
  );
}

function info(what: string, why = '', remedy = ''): Problem {
  return problem({ severity: 'info', what, why, remedy });
}
