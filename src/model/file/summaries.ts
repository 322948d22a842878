import type {
  Artifact,
  ArtifactResult,
  Code,
  Compilation,
  CompilationSummary,
  Region,
  Report,
  ReportSummary,
  SearchHit,
  SearchResult,
  SubjectSummary,
  TargetReport,
  TargetSummary,
  VariantReport,
  VariantSummary
} from '../../protocol/types';
import { STAGES, WRAPPER_LANGUAGES, WRAPPERS } from '../../protocol/types';
import {
  artifactName,
  compiledOf,
  configsOf,
  formsOf,
  whyNotCompiled
} from './compiled';
import { missing } from './missing';
import { isPackaged, packagedOf } from './packaged';
import { findCompilation, findVariant } from './slices';

/**
 * As many lines as a search brings, and as many characters of each.
 */
const MOST_HITS = 200;
const LONG_LINE = 300;

/**
 * A report as a row of the list of subjects; this and what follows as
 * `summaries.py`.
 */
export function subjectOf(report: Report): SubjectSummary {
  const { subject, variants, problems } = report;
  return {
    subject,
    revision: 1,
    variants: variants.map(each => each.name),
    problems: variants.reduce(
      (sum, each) => sum + each.problems.length,
      problems.length
    ),
    group: report.rank?.group ?? '',
    rank: report.rank?.rank ?? null,
    ranks: report.rank?.size ?? 0
  };
}

/**
 * A report without its texts.
 */
export function summaryOf(report: Report): ReportSummary {
  const {
    subject,
    environment,
    variants,
    problems,
    files,
    peaks,
    sweep,
    rank,
    overview
  } = report;
  return {
    revision: 1,
    subject,
    environment,
    variants: variants.map(variantSummary),
    problems,
    files,
    peaks,
    sweep: sweep && {
      id: sweep.id,
      state: sweep.state,
      cells: sweep.cells.length,
      finished: sweep.cells.filter(
        each => each.state !== 'waiting' && each.state !== 'running'
      ).length
    },
    rank,
    overview,
    trace: report.trace,
    asked: [],
    ready: []
  };
}

/**
 * One artifact's text, and what its lines mean.
 *
 * A report's `compilation` completes the wrappers from the other variants;
 * asked for one variant, it does not.
 */
export function artifactOf(
  report: Report,
  variant: string,
  id: string,
  name: string
): ArtifactResult {
  if (isPackaged(name)) {
    const { path, text, language } = packagedOf(
      findVariant(report, variant),
      name
    );
    return describe(name, path, 'code', language, text);
  }
  const found = findCompilation(report, variant, id);
  for (const each of artifactsOf(found)) {
    if (each.artifact.name === name) {
      return each;
    }
  }
  const compiled = compiledOf(found, name);
  if (compiled) {
    const { label, language, ...result } = compiled;
    const { artifact } = describe(name, label, 'kernel', language, result.text);
    return { artifact, ...result };
  }
  const plain = name.replace(/^backward\./, '');
  const label = WRAPPERS[plain] ?? name;
  throw missing(
    `The variant '${variant}' has no ${label} of ${id}.`,
    reasonOf(found, name),
    'Choose another artifact.'
  );
}

/**
 * The first lines of a report's texts that hold a text.
 */
export function searchOf(report: Report, text: string): SearchResult {
  const hits: SearchHit[] = [];
  for (const { name: variant, compilations } of report.variants) {
    for (const compilation of compilations) {
      for (const { artifact, text: content } of artifactsOf(compilation)) {
        if (!text || !content.includes(text)) {
          continue;
        }
        for (const [index, line] of content.split('\n').entries()) {
          if (!line.includes(text)) {
            continue;
          }
          if (hits.length === MOST_HITS) {
            return { hits, is_cut: true };
          }
          hits.push({
            variant,
            compilation: compilation.id,
            name: artifact.name,
            line: index + 1,
            text: line.trim().slice(0, LONG_LINE)
          });
        }
      }
    }
  }
  return { hits, is_cut: false };
}

function variantSummary(variant: VariantReport): VariantSummary {
  const { timing, accuracy } = variant;
  return {
    name: variant.name,
    requested: variant.requested,
    stage: variant.stage,
    median_us: timing?.median_us ?? null,
    interval_us: timing && !timing.few ? timing.interval_us : null,
    speedup: timing?.speedup ?? null,
    compile_s: variant.compile_time?.total_s ?? null,
    accurate: accuracy.length > 0 ? accuracy.every(each => each.ok) : null,
    compilations: variant.compilations.map(compilationSummary),
    breaks: variant.breaks.length,
    problems: variant.problems,
    verdict: variant.verdict,
    studied: variant.studied,
    target: variant.target && targetSummary(variant, variant.target),
    filled: filledOf(variant),
    changed: variant.changes && {
      baseline: variant.changes.baseline,
      summary: variant.changes.summary,
      switches: variant.changes.switches
    },
    earlier: variant.earlier,
    recorded: variant.recorded
  };
}

/**
 * The fields of a variant and of its compilations that hold something.
 */
function filledOf(variant: VariantReport): string[] {
  const fields = [variant, ...variant.compilations].flatMap(each =>
    Object.entries(each)
      .filter(
        ([, value]) =>
          value !== null &&
          typeof value === 'object' &&
          Object.keys(value).length > 0
      )
      .map(([field]) => field)
  );
  return [...new Set(fields)].sort();
}

function targetSummary(
  { compilations }: VariantReport,
  { name, device, is_here, estimate }: TargetReport
): TargetSummary {
  const kernels = compilations
    .flatMap(each => each.kernels)
    .filter(({ language }) => language === 'triton');
  const checks: Record<string, number> = {};
  for (const { check } of kernels) {
    if (check) {
      checks[check.outcome] = (checks[check.outcome] ?? 0) + 1;
    }
  }
  return {
    name,
    title: device.name,
    arch: device.build?.arch ?? '',
    is_here,
    estimate,
    kernels: kernels.length,
    compiled: kernels.filter(each => Object.keys(each.assembly).length > 0)
      .length,
    checks
  };
}

function compilationSummary(compilation: Compilation): CompilationSummary {
  const { frame, counts, graphs } = compilation;
  const sizes = Object.values(graphs).map(graph => graph.nodes.length);
  return {
    id: compilation.id,
    frame: frame ? `${frame.function} (${frame.file}:${frame.line})` : '',
    artifacts: [...artifactsOf(compilation)].map(each => each.artifact),
    guards: counts.guards ?? compilation.guards.length,
    breaks: compilation.breaks.length,
    kernels: counts.kernels ?? compilation.kernels.length,
    recompile: compilation.recompile?.reasons ?? [],
    stages: Object.keys(STAGES).filter(stage => stage in graphs),
    nodes: counts.nodes ?? Math.max(0, ...sizes),
    started_s: compilation.started_s,
    duration_s: compilation.duration_s,
    cell: compilation.cell,
    call: compilation.call,
    where: frame,
    reduced: compilation.reduced,
    torch_id: compilation.torch_id,
    cell_number: compilation.cell_number,
    caches: Object.fromEntries(
      compilation.cache.map(({ cache, outcome }) => [cache, outcome])
    )
  };
}

function* artifactsOf(compilation: Compilation): Iterable<ArtifactResult> {
  const { code, graphs, kernels, raw } = compilation;
  yield* codeOf(code, '', '');
  if (code.backward) {
    yield* codeOf(code.backward, 'backward.', ', backward');
  }
  for (const [stage, title] of Object.entries(STAGES)) {
    const text = graphs[stage]?.text;
    if (text) {
      yield describe(
        `graph.${stage}`,
        `Graph: ${title}`,
        'graph',
        'python',
        text
      );
    }
  }
  for (const kernel of kernels) {
    if (kernel.source) {
      const result = describe(
        artifactName(kernel),
        kernel.name,
        'kernel',
        kernel.language === 'cpp' ? 'cpp' : 'python',
        kernel.source
      );
      result.artifact.forms = formsOf(kernel);
      result.artifact.configs = configsOf(kernel);
      yield result;
    }
  }
  for (const { name, count, language, text } of raw) {
    const label = count === 1 ? name : `${name}: ${count} records`;
    yield describe(`raw.${name}`, label, 'raw', language, text);
  }
}

function* codeOf(
  code: Code,
  prefix: string,
  suffix: string
): Iterable<ArtifactResult> {
  for (const [name, label] of Object.entries(WRAPPERS)) {
    const text = code[name as keyof Code] as string | null;
    if (text !== null) {
      yield describe(
        prefix + name,
        label + suffix,
        'code',
        WRAPPER_LANGUAGES[name],
        text,
        code.regions[name]
      );
    }
  }
}

function describe(
  name: string,
  label: string,
  group: Artifact['group'],
  language: string,
  text: string,
  regions: Region[] = []
): ArtifactResult {
  const ends = text.endsWith('\n') ? 0 : 1;
  const lines = text.split('\n').length - 1 + ends;
  const artifact = { name, label, group, language, lines };
  return {
    artifact: { ...artifact, forms: [], configs: [] },
    text,
    regions,
    lines: [],
    source: ''
  };
}

function reasonOf(compilation: Compilation, name: string): string {
  const { code, absent } = compilation;
  const [head, ...tail] = name.split('.');
  const rest = tail.join('.');
  if (head === 'graph') {
    return absent[rest] ?? '';
  }
  if (head === 'kernel') {
    return whyNotCompiled(compilation, name);
  }
  if (head === 'backward') {
    const known = code.backward ? code.backward.absent[rest] : absent.backward;
    return known ?? '';
  }
  return (code.absent[name] || absent.code) ?? '';
}
