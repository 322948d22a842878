import type {
  ArtifactResult,
  Compilation,
  Contents,
  Graph,
  Report,
  SearchHit,
  SearchResult,
  StoredText,
  VariantReport
} from '../../protocol/types';
import { missing } from './missing';

/**
 * The maximum number of lines that a search returns, and of characters of each.
 */
const MAX_HITS = 200;
const MAX_LINE = 300;

/**
 * An artifact's text, with its regions.
 */
export function artifactOf(
  report: Report,
  contents: Contents,
  variantName: string,
  id: string,
  name: string
): ArtifactResult {
  const variant = findVariant(report, variantName);
  const stored = contents.variants[report.variants.indexOf(variant)];
  const isNamed = (text: StoredText) => text.name === name;
  const packaged = stored.package.find(isNamed);
  if (packaged) {
    return read(packaged, path => valueAt(variant, path));
  }
  const compilation = findCompilation(variant, id);
  const { texts, absent } =
    stored.compilations[variant.compilations.indexOf(compilation)];
  const text = texts.find(isNamed);
  if (text) {
    return read(text, path => textAt(report, compilation, path));
  }
  const reason = absent[name] ?? absent[name.split('.')[0]];
  throw missing(
    `The report has no “${name}” of ${id} of the variant “${variantName}”.`,
    reason ? (valueAt(compilation, reason) as string) : '',
    texts.some(({ listed }) => listed) ? 'Choose another artifact.' : ''
  );
}

/**
 * A stage's graph. A file has equal graphs once: the others name the variant and
 * the stage of the one that it has.
 */
export function graphOf(
  report: Report,
  variant: string,
  id: string,
  stage: string
): Graph {
  const { graphs, absent } = findCompilation(findVariant(report, variant), id);
  const graph = graphs[stage];
  if (!graph) {
    throw missing(
      `${id} of “${variant}” has no graph of the stage “${stage}”.`,
      absent[stage] ?? '',
      `It has ${Object.keys(graphs).join(', ') || 'none'}.`
    );
  }
  return { ...ownerOf(report, id, graph), stage };
}

/**
 * The first lines of a report's texts that contain a text.
 */
export function searchOf(
  report: Report,
  contents: Contents,
  text: string
): SearchResult {
  const hits: SearchHit[] = [];
  for (const [index, { name, compilations }] of report.variants.entries()) {
    for (const [number, compilation] of compilations.entries()) {
      const { texts } = contents.variants[index].compilations[number];
      for (const artifact of texts.filter(({ listed }) => listed)) {
        const content = textAt(report, compilation, artifact.text) as string;
        if (!text || !content.includes(text)) {
          continue;
        }
        for (const [place, line] of content.split('\n').entries()) {
          if (!line.includes(text)) {
            continue;
          }
          if (hits.length === MAX_HITS) {
            return { hits, is_cut: true };
          }
          hits.push({
            variant: name,
            compilation: compilation.id,
            name: artifact.name,
            line: place + 1,
            text: line.trim().slice(0, MAX_LINE)
          });
        }
      }
    }
  }
  return { hits, is_cut: false };
}

export function findVariant(report: Report, name: string): VariantReport {
  const variant = report.variants.find(candidate => candidate.name === name);
  if (!variant) {
    const names = report.variants.map(other => `“${other.name}”`).join(', ');
    throw missing(
      `The report has no variant “${name}”.`,
      '',
      `It has ${names || 'none'}.`
    );
  }
  return variant;
}

export function findCompilation(
  { compilations }: VariantReport,
  id: string
): Compilation {
  const compilation = compilations.find(candidate => candidate.id === id);
  if (!compilation) {
    const ids = [...new Set(compilations.map(other => other.id))];
    throw missing(
      `The report has no compilation ${id}.`,
      '',
      `It has ${ids.join(', ') || 'none'}.`
    );
  }
  return compilation;
}

function read(text: StoredText, at: (path: string) => unknown): ArtifactResult {
  const { regions, text_lines: lines, source } = text;
  return {
    artifact: text,
    text: at(text.text) as string,
    regions: regions ? (at(regions) as ArtifactResult['regions']) : [],
    lines: lines ? (at(lines) as number[]) : [],
    source: source ? (at(source) as string) : ''
  };
}

/**
 * The text at a place of a compilation, also if a graph's text is stored with
 * another variant.
 */
function textAt(
  report: Report,
  compilation: Compilation,
  path: string
): unknown {
  const [field, stage, ...rest] = path.split('/');
  return field === 'graphs'
    ? valueAt(
        ownerOf(report, compilation.id, compilation.graphs[stage]),
        rest.join('/')
      )
    : valueAt(compilation, path);
}

/**
 * The text at a place, as `StoredText` names places.
 */
function valueAt(struct: object, path: string): unknown {
  return path
    .split('/')
    .reduce<unknown>(
      (value, step) => (value as Record<string, unknown>)[step],
      struct
    );
}

function ownerOf(report: Report, id: string, graph: Graph): Graph {
  if (!graph.same_as) {
    return graph;
  }
  const [name, stage] = graph.same_as;
  const owner = report.variants
    .find(variant => variant.name === name)
    ?.compilations.find(compilation => compilation.id === id)?.graphs[stage];
  return owner ?? graph;
}
