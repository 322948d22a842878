"""The subjects of a session, with their inspections."""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis.parts import collecting_failures
from ..distributed.remote_report import RemoteSubject
from ..inspection.inspection import Inspection
from ..inspection.same_call import call_key
from ..jobs.jobs import Jobs
from ..report import AS_WRITTEN, IN_CELL, Subject, VariantReport
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from ..watching.running_code import RecordedCompilations
from ..watching.watch import Watch

Inspected = Inspection | Watch | RemoteSubject
"""The inspection of a call; a watch; or the report of a process that has ended."""

MAX_SUBJECTS = 30
"""How many are kept. Each holds on to its arguments; the oldest is evicted first."""
MAX_SUBJECTS_WITH_BUILDS = 3
"""How many of the latest subjects keep their builds. Builds take memory, on a GPU that of their
CUDA graphs."""


class Subjects:
    """What a kernel has inspected, the latest last.

    Parameters
    ----------
    jobs
        Those of a subject that is dropped are canceled.
    """

    def __init__(self, jobs: Jobs) -> None:
        self.inspections: dict[str, Inspected] = {}
        """Subject's id → its inspection."""
        self.revisions: dict[str, int] = {}
        """Subject's id → how often its report has changed."""
        self._jobs = jobs

    def get(self, subject: str) -> Inspected:
        """The inspection of a subject.

        Raises
        ------
        CompilescopeError
            The subject does not exist: it was dropped, or the kernel was restarted.
        """
        if subject not in self.inspections:
            raise CompilescopeError(
                "This subject is no longer in the kernel.",
                "It was forgotten, or the kernel was restarted.",
                "Run its cell again.",
            )
        return self.inspections[subject]

    def callable(self, subject: str) -> Inspection:
        """The inspection of a subject that can be called.

        Raises
        ------
        CompilescopeError
            The subject does not exist or cannot be called.
        """
        inspection = self.get(subject)
        if isinstance(inspection, RemoteSubject):
            raise CompilescopeError(
                f"This report is of {inspection.where}, which has ended.",
                "It was made in a process of its own: there is no call to make again here.",
                "Call compilescope.ranks again.",
            )
        if isinstance(inspection, Watch):
            raise CompilescopeError(
                "A watch has no variants.",
                "It shows what your own code compiled, as it is written: there is no call to "
                "make again under other switches.",
                "Put %%compile at the top of a cell that ends with the call.",
            )
        return inspection

    def add(self, inspection: Inspected) -> None:
        """Add a subject in place of those that it repeats; the oldest may be dropped."""
        new = inspection.report.subject
        revision = self.revisions.get(new.id, 0) + 1
        before = self.inspections.get(new.id)
        if before is not None:
            inspection.report.sweep = before.report.sweep
        for other in _replaced(inspection, self.inspections):
            self.drop(other)
        self.inspections[new.id], self.revisions[new.id] = inspection, revision
        for other in _superfluous(self.inspections):
            self.drop(other)
        _lighten(self.inspections)

    def adopt(self, inspection: Inspection, requested: Mapping[str, Variant]) -> None:
        """Add the results of earlier runs of the same call to a report."""
        new = inspection.report.subject
        inspection.call_key = call_key(inspection.fn, inspection.args, inspection.kwargs)
        for other in dict.fromkeys([new.id, *_replaced(inspection, self.inspections)]):
            before = self.inspections.get(other)
            if isinstance(before, Inspection) and before.call_key == inspection.call_key:
                but = (AS_WRITTEN, IN_CELL, *requested)
                inspection.results.adopt(before.report, but, requested.values())

    def drop(self, subject: str) -> Inspected | None:
        """Remove a subject, cancel its jobs, and return its inspection; None if there is none."""
        dropped = self.inspections.pop(subject, None)
        self.revisions.pop(subject, None)
        running = self._jobs.current
        if isinstance(dropped, Inspection):
            for job in [*self._jobs.aside, *([running] if running is not None else [])]:
                if job.subject == subject:
                    self._jobs.cancel(job.id)
            dropped.close()
        return dropped

    def note_change(self, subject: str) -> None:
        """Count a change of a subject's report."""
        self.revisions[subject] = self.revisions.get(subject, 0) + 1


def add_watched(inspection: Inspection, watched: RecordedCompilations) -> None:
    """Add what a cell itself compiled to the report of its call."""
    with collecting_failures() as unanalyzed:
        compilations = watched.compilations(IN_CELL)
    if compilations:
        inspection.results.put(
            VariantReport(
                name=IN_CELL,
                requested=Variant(),
                stage="built",
                compilations=compilations,
                problems=unanalyzed,
                recorded=True,
            )
        )


def _lighten(inspected: Mapping[str, Inspected]) -> None:
    """Drops the builds of all but the latest subjects."""
    for subject in list(inspected.values())[:-MAX_SUBJECTS_WITH_BUILDS]:
        if isinstance(subject, Inspection):
            subject.release()


def _replaced(new: Inspected, inspected: Mapping[str, Inspected]) -> list[str]:
    """The subjects that a new one replaces; an active watch is never replaced."""
    subject = new.report.subject
    return [
        name
        for name, old in inspected.items()
        if not _is_on(old)
        and (name == subject.id or (_is_alike(new, old) and _is_again(subject, old.report.subject)))
    ]


def _is_alike(new: Inspected, old: Inspected) -> bool:
    """Whether one can replace the other: not where they are two ranks of a run."""
    rank, other = new.report.rank, old.report.rank
    is_same_run = rank is not None and other is not None and rank.group == other.group
    return type(new) is type(old) and not is_same_run


def _superfluous(inspected: Mapping[str, Inspected]) -> list[str]:
    """The oldest subjects beyond the limit, except active watches."""
    old = [name for name, subject in inspected.items() if not _is_on(subject)]
    return old[: max(0, len(inspected) - MAX_SUBJECTS)]


def _is_on(subject: Inspected) -> bool:
    return isinstance(subject, Watch) and subject.is_on


def _is_again(new: Subject, old: Subject) -> bool:
    """Whether a subject repeats an earlier one: its cell or its ``def`` was run again."""
    if (new.name, new.kind, new.arguments) != (old.name, old.kind, old.arguments):
        return False
    if new.cell is not None and new.cell == old.cell:
        return new.kind != "watch" or new.where == old.where
    return new.kind in ("function", "lambda") and new.where is not None and new.where == old.where
