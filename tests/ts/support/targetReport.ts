import { readFileSync } from 'fs';
import path from 'path';
import { readReport } from '../../../src/model/file';
import { summaryOf } from '../../../src/model/file/summaries';
import { artifactOf } from '../../../src/model/file/texts';
import type {
  ArtifactResult,
  Compilation,
  Report,
  ReportSummary
} from '../../../src/protocol/types';

const FILE = path.join(
  __dirname,
  '../../data/reports/targets.compilescope.json'
);

/**
 * The kernel that Triton compiles in the report of two targets.
 */
export const KERNEL =
  'triton_per_fused__softmax_add_gelu_prepare_softmax_online_0';

export const REPORT: Report = readReport(readFileSync(FILE, 'utf8'));
export const SUMMARY: ReportSummary = summaryOf(REPORT, REPORT.contents!);

/**
 * What was compiled for one of the targets.
 */
export function ofTarget(variant: string): Compilation {
  return REPORT.variants.find(({ name }) => name === variant)!.compilations[0];
}

/**
 * The kernel's text in a form; its source for an empty one.
 */
export function resultOf(variant: string, form: string): ArtifactResult {
  const name = `kernel.inference.${KERNEL}${form && `.${form}`}`;
  return artifactOf(REPORT, REPORT.contents!, variant, '0/0', name);
}
