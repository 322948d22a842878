"""Which subjects a session keeps."""

from __future__ import annotations

from collections.abc import Mapping

from ..distributed.remote_report import Elsewhere
from ..inspection.inspection import Inspection
from ..report import Subject
from ..watching.watch import Watch

MOST = 30
"""How many are kept. Each holds on to its arguments; the oldest goes first."""


BUILT = 3
"""Of how many, the latest, what was built is kept. Builds take memory, on a GPU that of their CUDA
graphs."""


def lighten(known: Mapping[str, Inspection | Watch | Elsewhere]) -> None:
    """Has all but the latest subjects let go of what was built."""
    for one in list(known.values())[:-BUILT]:
        if isinstance(one, Inspection):
            one.let_go()


def replaced(new: Subject, known: Mapping[str, Inspection | Watch | Elsewhere]) -> list[str]:
    """The subjects whose place a new one takes; a watch that is on keeps its place."""
    return [
        name
        for name, one in known.items()
        if not _is_on(one) and (name == new.id or _is_again(new, one.report.subject))
    ]


def superfluous(known: Mapping[str, Inspection | Watch | Elsewhere]) -> list[str]:
    """The oldest of too many; a watch that is on stays."""
    old = [name for name, one in known.items() if not _is_on(one)]
    return old[: max(0, len(known) - MOST)]


def _is_on(one: Inspection | Watch | Elsewhere) -> bool:
    return isinstance(one, Watch) and one.is_on


def _is_again(new: Subject, old: Subject) -> bool:
    """Whether a subject is an earlier one, made again: its cell was run again, or its ``def``."""
    if (new.name, new.kind, new.arguments) != (old.name, old.kind, old.arguments):
        return False
    if new.cell is not None and new.cell == old.cell:
        return new.kind != "watch" or new.where == old.where
    return new.kind in ("function", "lambda") and new.where is not None and new.where == old.where
