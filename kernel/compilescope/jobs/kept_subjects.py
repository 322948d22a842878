"""Which subjects a session keeps."""

from __future__ import annotations

from collections.abc import Mapping

from ..distributed.remote_report import Elsewhere
from ..inspection.inspection import Inspection
from ..report import Subject
from ..watching.watch import Watch

MOST = 30
"""How many are kept. Each holds on to its arguments; the oldest is evicted first."""


BUILT = 3
"""How many of the latest subjects keep their builds. Builds take memory, on a GPU that of their
CUDA graphs."""


def lighten(inspected: Mapping[str, Inspection | Watch | Elsewhere]) -> None:
    """Drops the builds of all but the latest subjects."""
    for subject in list(inspected.values())[:-BUILT]:
        if isinstance(subject, Inspection):
            subject.let_go()


def replaced(new: Subject, inspected: Mapping[str, Inspection | Watch | Elsewhere]) -> list[str]:
    """The subjects that a new one replaces; an active watch is never replaced."""
    return [
        name
        for name, subject in inspected.items()
        if not _is_on(subject) and (name == new.id or _is_again(new, subject.report.subject))
    ]


def superfluous(inspected: Mapping[str, Inspection | Watch | Elsewhere]) -> list[str]:
    """The oldest subjects beyond the limit, except active watches."""
    old = [name for name, subject in inspected.items() if not _is_on(subject)]
    return old[: max(0, len(inspected) - MOST)]


def _is_on(subject: Inspection | Watch | Elsewhere) -> bool:
    return isinstance(subject, Watch) and subject.is_on


def _is_again(new: Subject, old: Subject) -> bool:
    """Whether a subject repeats an earlier one: its cell or its ``def`` was run again."""
    if (new.name, new.kind, new.arguments) != (old.name, old.kind, old.arguments):
        return False
    if new.cell is not None and new.cell == old.cell:
        return new.kind != "watch" or new.where == old.where
    return new.kind in ("function", "lambda") and new.where is not None and new.where == old.where
