import type { SubjectSummary, SubjectsChanged } from '../protocol/types';
import { Archive } from './archive';

/**
 * The subjects of a kernel, and the reports of earlier kernels.
 */
export class KnownSubjects {
  constructor(options: Archive.IOptions) {
    this._archive = new Archive({
      fetch: async (subject, format) =>
        this.isLive(subject) ? options.fetch(subject, format) : null
    });
  }

  /**
   * The latest first; reports of earlier kernels at the end.
   */
  get list(): readonly SubjectSummary[] {
    return this._list;
  }

  /**
   * The subject that was inspected meanwhile and is not shown; null if there is
   * none.
   */
  offered: string | null = null;

  find(id: string | null): SubjectSummary | undefined {
    return this._list.find(({ subject }) => subject.id === id);
  }

  /**
   * Whether the kernel has a subject.
   */
  isLive(id: string): boolean {
    return this._live.has(id);
  }

  /**
   * Whether a subject is that of an earlier kernel, with a copy of its report.
   */
  isEarlier(id: string): boolean {
    return !this._live.has(id) && this.isFetched(id);
  }

  /**
   * Whether a subject's report outlives the kernel.
   */
  isFetched(id: string): boolean {
    return this._archive.has(id);
  }

  /**
   * What answers instead of the kernel; null if the kernel answers.
   */
  answersOf(id: string): Archive.IAnswers | null {
    return this._live.has(id) ? null : this._archive.get(id);
  }

  /**
   * Process the end of the kernel: only copies of reports remain.
   *
   * @param current - A subject that stays in the list.
   */
  onKernelGone(current: string | null): void {
    this._archive.onKernelGone();
    this._live = new Set();
    this._list = this._list.filter(
      ({ subject: { id } }) => id === current || this._archive.has(id)
    );
  }

  /**
   * Process the kernel's list.
   */
  update(subjects: readonly SubjectSummary[]): void {
    this._live = new Set(subjects.map(({ subject }) => subject.id));
    this._archive.follow(subjects);
    this._list = [...subjects, ...this._archive.orphaned];
  }

  /**
   * Note a new report to offer; drop it once its subject is gone or another
   * call has been inspected since.
   */
  receiveOffer(
    { subjects, focus, offer }: SubjectsChanged,
    current: string | null
  ): void {
    if (offer) {
      this.offered = offer === current ? null : offer;
    } else if (
      focus !== null ||
      !subjects.some(({ subject }) => subject.id === this.offered)
    ) {
      this.offered = null;
    }
  }

  /**
   * Forget a report of an earlier kernel.
   */
  forget(id: string): void {
    this._archive.forget(id);
    this._list = this._list.filter(({ subject }) => subject.id !== id);
  }

  /**
   * Keep a copy of the shown report for when the kernel ends.
   */
  archive(id: string, revision: number): void {
    const summary = this.find(id);
    if (summary) {
      this._archive.note({ ...summary, revision });
    }
  }

  /**
   * Fetch what could not be fetched while the kernel was busy.
   */
  retry(): void {
    this._archive.retry();
  }

  dispose(): void {
    this._archive.dispose();
  }

  private _list: readonly SubjectSummary[] = [];
  private _live: ReadonlySet<string> = new Set();
  private _archive: Archive;
}

/**
 * The subject inspected last, if no event has announced it.
 *
 * A cell may finish before the comms are open: its subject is in the list, but there
 * was no event.
 *
 * @param listed - The kernel's subjects, the latest first.
 */
export function missedSubject(
  known: readonly SubjectSummary[],
  listed: readonly SubjectSummary[]
): string | null {
  const [latest] = listed;
  const isMissed =
    latest !== undefined &&
    !known.some(
      subject =>
        subject.subject.id === latest.subject.id &&
        subject.revision === latest.revision
    );
  return isMissed ? latest.subject.id : null;
}

/**
 * The subject to select: the one just inspected, else the selected one while it
 * is known, else the latest.
 */
export function chooseSubject(
  subjects: readonly SubjectSummary[],
  current: string | null,
  focus: string | null
): string | null {
  const ids = subjects.map(subject => subject.subject.id);
  return (
    focus ??
    (current !== null && ids.includes(current) ? current : (ids[0] ?? null))
  );
}
