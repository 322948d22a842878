import type * as protocol from '../protocol/types';

/**
 * Lines of a text that mean one thing. Beside those that the kernel tells of there are the lines of
 * a kernel: those that one line of its source was compiled to, and that line itself.
 */
export type Region = Omit<protocol.Region, 'kind'> & {
  kind: protocol.Region['kind'] | 'line';
};

export type {
  Artifact,
  ArtifactResult,
  CompilationSummary,
  Decision,
  Problem,
  ReportSummary,
  SourceLine,
  VariantSummary
} from '../protocol/types';
export type { ISelection } from '../interfaces/selection';
export type { ConnectionKind } from '../interfaces/status';
export type { ISubjectModel } from '../interfaces/subject';
