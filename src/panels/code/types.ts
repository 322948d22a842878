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
export type { ConnectionKind, ISelection, ISubjectModel } from '../../tokens';
