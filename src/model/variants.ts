import type {
  Choices,
  CompilationSummary,
  ReportSummary,
  Variant,
  VariantSummary
} from '../protocol/types';
import type { ISides } from '../interfaces/subject';

/**
 * The setting that the switches show while there is no report.
 */
export const DEFAULT_VARIANT: Variant = {
  backend: 'inductor',
  mode: null,
  cpp_wrapper: false,
  dynamic: null,
  fullgraph: false,
  options: {},
  target: null
};

/**
 * The choices until a kernel sends its own.
 */
export const NO_CHOICES: Choices = {
  backends: [],
  modes: [],
  targets: [],
  titles: {},
  groups: {},
  targets_off: '',
  executors: []
};

/**
 * Whether two settings are the same. The default mode has two spellings.
 */
export function isSameVariant(a: Variant, b: Variant): boolean {
  const normal = ({ mode, options, ...rest }: Variant) =>
    JSON.stringify([
      mode === 'default' ? null : mode,
      Object.entries(options).sort(([x], [y]) => (x < y ? -1 : 1)),
      rest.backend,
      rest.cpp_wrapper,
      rest.dynamic,
      rest.fullgraph,
      rest.target
    ]);
  return normal(a) === normal(b);
}

/**
 * The variant of a report with these settings; null if there is none or it failed,
 * so that it is worth another try.
 */
export function findVariant(
  report: ReportSummary | null,
  settings: Variant
): VariantSummary | null {
  const isIt = ({ requested, stage }: VariantSummary) =>
    stage !== 'failed' && isSameVariant(requested, settings);
  return report?.variants.find(isIt) ?? null;
}

/**
 * Whether the kernel has generated the code of a variant ahead.
 */
export function isGeneratedAhead(
  report: ReportSummary | null,
  settings: Variant
): boolean {
  return !!report?.ready.some(ready => isSameVariant(ready, settings));
}

/**
 * The variants to show left and right: what was chosen, if the report has it;
 * otherwise those that the report names.
 */
export function chooseSides(
  chosen: ISides,
  { sides, variants }: Pick<ReportSummary, 'sides' | 'variants'>
): ISides {
  const has = (name: string) =>
    variants.some(variant => variant.name === name && isCompiled(variant));
  return {
    left: has(chosen.left) ? chosen.left : sides.left,
    right: has(chosen.right) ? chosen.right : sides.right
  };
}

/**
 * Put a variant on its side: C++ wrappers right, all else left.
 */
export function placeVariant(sides: ISides, variant: VariantSummary): ISides {
  return variant.requested.cpp_wrapper
    ? { ...sides, right: variant.name }
    : { ...sides, left: variant.name };
}

/**
 * Whether `torch.compile` compiles a variant.
 */
export function isCompiled(variant: VariantSummary): boolean {
  return variant.requested.backend !== null;
}

/**
 * Whether all variants that compile failed, so that nothing can be timed.
 */
export function haveAllFailed(variants: readonly VariantSummary[]): boolean {
  const compiled = variants.filter(isCompiled);
  return (
    compiled.length > 0 && compiled.every(({ stage }) => stage === 'failed')
  );
}

/**
 * Whether all generated code is for devices that are not present, so that
 * nothing can be timed.
 */
export function isOnlyForTargets(variants: readonly VariantSummary[]): boolean {
  const compiled = variants.filter(isCompiled);
  return (
    compiled.length > 0 &&
    compiled.every(({ requested }) => requested.target !== null)
  );
}

/**
 * A compilation of a variant (of any, while that one has none).
 *
 * @param asked - The id that was asked for.
 * @param shown - The id that is shown: it stays if it has code, or if none has;
 * else the first with code is chosen.
 */
export function chooseCompilation(
  asked: string,
  shown: string,
  variant: string,
  variants: readonly VariantSummary[]
): string {
  const ofVariant =
    variants.find(({ name }) => name === variant)?.compilations ?? [];
  const compilations = ofVariant.length
    ? ofVariant
    : variants.flatMap(summary => summary.compilations);
  const hasCode = (compilation: CompilationSummary) =>
    compilation.artifacts.some(({ group }) => group === 'code');
  const find = (id: string) =>
    compilations.find(compilation => compilation.id === id);
  const current = find(shown);
  const chosen =
    find(asked) ??
    (current && hasCode(current) ? current : compilations.find(hasCode)) ??
    current ??
    compilations[0];
  return chosen?.id ?? '';
}
