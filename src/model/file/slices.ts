import type {
  Code,
  Compilation,
  CompilationPart,
  Graph,
  Report,
  VariantReport
} from '../../protocol/types';
import { PARTS } from '../../protocol/types';
import { withoutTexts } from './compiled';
import { missing } from './missing';
import { withoutTexts as withoutPackaged } from './packaged';

const NO_CODE: Code = {
  direction: 'inference',
  python: null,
  cpp: null,
  shell: null,
  path: null,
  regions: {},
  backward: null,
  others: [],
  absent: {},
  aot: null,
  buffers: {}
};

/**
 * A variant with its compilations in outline; as `slices.py`.
 */
export function variantOf(report: Report, name: string): VariantReport {
  const found = findVariant(report, name);
  return {
    ...found,
    compilations: found.compilations.map(outline),
    package: found.package && withoutPackaged(found.package)
  };
}

/**
 * A compilation in outline, with the parts that were asked for.
 */
export function compilationOf(
  report: Report,
  variant: string,
  id: string,
  parts: readonly CompilationPart[]
): Compilation {
  const found = findCompilation(report, variant, id);
  const filled: Record<string, unknown> = {};
  for (const field of parts.flatMap(part => PARTS[part])) {
    filled[field] = found[field];
  }
  if (parts.includes('kernels')) {
    filled.kernels = found.kernels.map(withoutTexts);
  }
  return { ...outline(found), ...filled };
}

/**
 * A stage's graph without its text.
 */
export function graphOf(
  report: Report,
  variant: string,
  id: string,
  stage: string
): Graph {
  const { graphs, absent } = findCompilation(report, variant, id);
  const graph = graphs[stage];
  if (!graph) {
    throw missing(
      `${id} of '${variant}' has no graph of the stage '${stage}'.`,
      absent[stage] ?? '',
      `It has ${Object.keys(graphs).join(', ') || 'none'}.`
    );
  }
  return { ...graph, text: '' };
}

export function findVariant(report: Report, name: string): VariantReport {
  const found = report.variants.find(each => each.name === name);
  if (!found) {
    const names = report.variants.map(each => `'${each.name}'`).join(', ');
    throw missing(
      `The report has no variant '${name}'.`,
      '',
      `It has ${names || 'none'}.`
    );
  }
  return found;
}

export function findCompilation(
  report: Report,
  variant: string,
  id: string
): Compilation {
  const { compilations } = findVariant(report, variant);
  const found = compilations.find(each => each.id === id);
  if (!found) {
    const ids = [...new Set(compilations.map(each => `'${each.id}'`))];
    throw missing(
      `The report has no compilation '${id}'.`,
      '',
      `It has ${ids.join(', ') || 'none'}.`
    );
  }
  return found;
}

function outline(found: Compilation): Compilation {
  const empty: Record<string, unknown> = {};
  for (const field of Object.values(PARTS).flat()) {
    empty[field] = [];
  }
  return { ...found, ...empty, graphs: {}, code: NO_CODE, raw: [] };
}
