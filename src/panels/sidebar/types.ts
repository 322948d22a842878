import type { TranslationBundle } from '@jupyterlab/translation';
import type {
  Choices,
  GraphTiers,
  JobState,
  Problem,
  ReportSummary,
  SourceLine,
  SubjectSummary,
  Variant,
  WatchState
} from '../../protocol/types';
import type { IStatus } from '../../interfaces/status';
import type { ISides } from '../../interfaces/subject';
import type { ViewTarget } from '../views';

/**
 * The content of the sidebar.
 */
export interface ISidebarState {
  /**
   * Whether the report has a kernel.
   */
  readonly isLive: boolean;

  /**
   * Whether the report's kernel has ended.
   */
  readonly isKept: boolean;

  /**
   * The subjects that an earlier kernel inspected.
   */
  readonly earlier: readonly string[];

  /**
   * Whether the kernel has ended, and the report's cell still exists.
   */
  readonly canRunAgain: boolean;
  readonly status: IStatus;
  readonly subjects: readonly SubjectSummary[];
  readonly subject: string | null;
  readonly choices: Choices;
  readonly report: ReportSummary | null;
  readonly sides: ISides;
  readonly requested: Variant;
  readonly pending: boolean;
  readonly job: JobState | null;
  readonly jobSince: number;
  readonly problem: Problem | null;
  readonly watch: WatchState | null;
  readonly tiers: readonly GraphTiers[];
  readonly compilation: string;
}

/**
 * The actions of the sidebar.
 */
export interface ISidebarActions {
  selectSubject(id: string): void;
  setRequested(change: Partial<Variant>): void;
  showVariant(name: string): void;
  goTo(where: SourceLine): void;
  run(): void;
  resume(): void;
  cancel(): void;
  runAgain(): void;

  /**
   * Opens a view of the report.
   *
   * @param variant - The variant to show; by default the current one.
   */
  openView(view: ViewTarget, variant?: string): void;
  save(format: 'json' | 'html'): void;
  forget(): void;
  pinTier(number: number, pinned: boolean, tier: GraphTiers['serving']): void;
  setWatch(on: boolean, clear: boolean): void;
  showWatched(compilation: string, where: SourceLine | null): void;
  load(): void;
  retry(): void;
}

/**
 * The props of every part of the sidebar.
 */
export interface IPartProps {
  readonly state: ISidebarState;
  readonly actions: ISidebarActions;
  readonly trans: TranslationBundle;
}
