import type { SubjectSummary, SubjectsChanged } from '../protocol/types';
import { Archive } from './archive';

/**
 * The subjects that a kernel knows, and the reports of a kernel before it.
 */
export class KnownSubjects {
  constructor(options: Archive.IOptions) {
    this._archive = new Archive({
      fetch: async (subject, format) =>
        this.isLive(subject) ? options.fetch(subject, format) : null
    });
  }

  /**
   * The latest first; reports of a kernel before stand below.
   */
  get list(): readonly SubjectSummary[] {
    return this._list;
  }

  /**
   * What was inspected in the meantime and is not looked at; null for nothing.
   */
  offered: string | null = null;

  find(id: string | null): SubjectSummary | undefined {
    return this._list.find(({ subject }) => subject.id === id);
  }

  /**
   * Whether the kernel knows a subject.
   */
  isLive(id: string): boolean {
    return this._live.has(id);
  }

  /**
   * Whether a subject is one of a kernel before, whose report was fetched.
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
   * What answers in the kernel's place; null where the kernel does.
   */
  answersOf(id: string): Archive.IAnswers | null {
    return this._live.has(id) ? null : this._archive.get(id);
  }

  /**
   * The kernel is gone, and all that it knew but for what was fetched.
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
   * Take the kernel's list.
   */
  update(subjects: readonly SubjectSummary[]): void {
    this._live = new Set(subjects.map(({ subject }) => subject.id));
    this._archive.follow(subjects);
    this._list = [...subjects, ...this._archive.orphaned];
  }

  /**
   * Note what has come meanwhile, and drop it once it is gone or older than what
   * was inspected since.
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
   * Forget a report of a kernel before.
   */
  forget(id: string): void {
    this._archive.forget(id);
    this._list = this._list.filter(({ subject }) => subject.id !== id);
  }

  /**
   * Have a report that is shown outlive the kernel.
   */
  archive(id: string, revision: number): void {
    const summary = this.find(id);
    if (summary) {
      this._archive.note({ ...summary, revision });
    }
  }

  /**
   * Fetch what could not be fetched while the kernel was at work.
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
