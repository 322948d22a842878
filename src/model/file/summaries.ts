import type {
  Contents,
  ListedProblem,
  Report,
  ReportSummary,
  SubjectSummary
} from '../../protocol/types';

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
  return {
    revision: 1,
    subject,
    environment,
    variants: contents.variants.map(({ summary, compilations }) => ({
      ...summary,
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
    ready: []
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
