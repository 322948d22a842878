import type {
  Contents,
  ListedProblem,
  Report,
  ReportSummary,
  Sides,
  SubjectSummary,
  VariantSummary
} from '../../protocol/types';
import { isCompiled } from '../variants';

/**
 * A report of a file as a row of the list of subjects.
 */
export function subjectOf(report: Report, contents: Contents): SubjectSummary {
  const { subject, variants, rank } = report;
  return {
    subject,
    revision: 1,
    variants: variants.map(({ name }) => name),
    problems: contents.problems,
    group: rank?.group ?? '',
    rank: rank?.rank ?? null,
    ranks: rank?.size ?? 0
  };
}

/**
 * A report of a file without its texts: what the kernel summarized when it
 * wrote the file.
 */
export function summaryOf(report: Report, contents: Contents): ReportSummary {
  const { subject, environment, problems, files, peaks } = report;
  const { rank, overview, trace } = report;
  const summaries = contents.variants.map(({ summary }) => summary);
  const isEarlier = contents.sides.left === '';
  return {
    revision: 1,
    subject,
    environment,
    variants: contents.variants.map(({ summary, compilations }) => ({
      ...summary,
      ...(isEarlier ? wrapperOf(summary, summaries) : {}),
      compilations: summary.compilations.map((compilation, index) => ({
        ...compilation,
        artifacts: compilations[index].texts.filter(({ listed }) => listed)
      }))
    })),
    problems,
    listed_problems: problemsOf(report, contents),
    files,
    peaks,
    sweep: contents.sweep,
    rank,
    overview,
    trace,
    asked: [],
    ready: [],
    sides: isEarlier ? sidesOf(summaries) : contents.sides
  };
}

/**
 * The list of problems; a file of an earlier version has none, but the problems.
 */
function problemsOf(report: Report, contents: Contents): ListedProblem[] {
  const { listed_problems } = contents;
  return listed_problems.length > 0
    ? listed_problems
    : [
        ...report.problems.map(problem => ({ problem, variants: [] })),
        ...report.variants.flatMap(({ name, problems }) =>
          problems.map(problem => ({ problem, variants: [name] }))
        )
      ];
}

/**
 * The first two variants; a file of an earlier version does not name those to
 * show side by side.
 */
function sidesOf(variants: readonly VariantSummary[]): Sides {
  const compiled = variants.filter(isCompiled);
  const called = compiled.filter(({ recorded }) => !recorded);
  const [left, right = left] = called.length > 0 ? called : compiled;
  return { left: left?.name ?? '', right: right?.name ?? '' };
}

/**
 * A variant's wrapper by its switch, and the first variant with the other; a
 * file of an earlier version does not name them.
 */
function wrapperOf(
  variant: VariantSummary,
  variants: readonly VariantSummary[]
): Pick<VariantSummary, 'has_cpp_wrapper' | 'other_wrapper'> {
  const { cpp_wrapper, target } = variant.requested;
  const other = isCompiled(variant)
    ? variants.find(
        candidate =>
          isCompiled(candidate) &&
          candidate.requested.cpp_wrapper !== cpp_wrapper &&
          candidate.requested.target === target
      )
    : undefined;
  return { has_cpp_wrapper: cpp_wrapper, other_wrapper: other?.name ?? '' };
}
