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
 * What the sidebar shows.
 */
export interface ISidebarState {
  /**
   * Whether there is a kernel behind the report.
   */
  readonly isLive: boolean;

  /**
   * Whether the report is of a kernel that is gone.
   */
  readonly isKept: boolean;

  /**
   * The subjects that a kernel before this one inspected.
   */
  readonly earlier: readonly string[];

  /**
   * Whether the kernel is gone, and the report's cell still there.
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
 * What the sidebar can do.
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
   * Open a view of the report.
   *
   * @param variant - The variant to show it of; the one that is shown, unless it is
   * given.
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
 * What every part of the sidebar is given.
 */
export interface IPartProps {
  readonly state: ISidebarState;
  readonly actions: ISidebarActions;
  readonly trans: TranslationBundle;
}
