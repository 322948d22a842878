export type {
  Artifact,
  ArtifactResult,
  CompilationSummary,
  Problem,
  Region,
  ReportSummary,
  SourceLine,
  VariantSummary
} from '../../protocol/types';
export type { ISelection, ISides, ISubjectModel } from '../../tokens';
