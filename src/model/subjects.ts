import type { SubjectSummary } from '../protocol/types';

/**
 * The subject inspected last, if nothing was heard of that yet.
 *
 * A cell may be done before the comms are open: what it inspected is in the
 * list, and no event told of it.
 *
 * @param listed - What the kernel knows, the latest first.
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
