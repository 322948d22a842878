"""A line of source, and a problem: the two structs that errors and reports share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from ..notebook_cells import cell_number, is_cell
from .resumed import is_generated, readable_name

Severity = Literal["error", "warning", "info"]


class Struct(msgspec.Struct, kw_only=True):
    """The base of all report structs."""


class SourceLine(Struct, frozen=True):  # type: ignore[misc]  # msgspec allows it
    """A line of the user's code (or of a library the user called)."""

    file: str
    line: int
    function: str = ""
    """The function that it is in; after a graph break ``f from line 9``."""
    code: str = ""
    cell: int | msgspec.UnsetType = msgspec.UNSET
    """The execution count of the notebook cell that it is in; unset elsewhere, or if unknown."""

    def __post_init__(self) -> None:
        if self.cell is msgspec.UNSET and is_cell(self.file):
            number = cell_number(self.file)
            if number is not None:
                msgspec.structs.force_setattr(self, "cell", number)
        if is_generated(self.function):
            msgspec.structs.force_setattr(self, "function", readable_name(self.function))


class Problem(Struct):
    """An error, a warning or a note: what happened, why, and what to do."""

    severity: Severity
    """``error``: something failed. ``warning``: it costs time or differs from the request.
    ``info``: a note."""
    what: str
    """What happened, in one sentence."""
    why: str = ""
    """Why; empty if unknown."""
    remedy: str = ""
    """What to do; empty if nothing can be done."""
    where: SourceLine | None = None
    """The line of code that it concerns."""
    detail: str = ""
    """Long text, collapsed by default: a compiler's output, the user's own traceback."""
    facts: dict[str, str] = {}
    """Details of a failure inside generated code, by name: ``operator``, ``tensor``, ``expected``,
    ``found``, ``cause``, ``call``; its place in the wrapper: ``compilation``, ``artifact``,
    ``wrapper_line``; for a failure of several compilations, ``compilations``: their ids, separated
    by commas; ``hidden_by``: the setting with which torch raises nothing and runs in eager.
    Elsewhere: ``inner_call``, a call in the arguments that is not part of the inspected one."""

    @property
    def compilations(self) -> list[str]:
        """The compile ids that `facts` names; empty if it names none."""
        ids = self.facts.get("compilations") or self.facts.get("compilation")
        return ids.split(", ") if ids else []


class ListedProblem(Struct):
    """A problem in a list, with all variants that have it."""

    problem: Problem
    variants: list[str] = []
    """Their names, of a trace those of its processes; empty if it concerns all."""


COMPILE_FAILED = "torch.compile failed"
"""The beginning of a failed compilation's headline, and the problem if the cause is unknown."""
SUBJECT_RAISED = "The subject raised"
"""The beginning of a problem that is the subject's own exception, with torch.compile or without."""
FULLGRAPH_BREAK = "Graph break with fullgraph=True"
"""The beginning of a problem that is a graph break where graph breaks are errors."""
GENERATOR = "The call returns a generator, which computes nothing in eager until it is consumed."
"""The problem of a variant with wrong results: its time cannot be compared with eager's."""
FIND_FAILING_PART = (
    "Try backend='eager' and backend='aot_eager': the first that fails names the part."
)
"""The remedy of a failure whose cause is unknown."""
STUDY_FAILED = "The study of {} failed."
"""The problem of a variant if a study of it failed."""
FAULT = "compilescope failed"
"""The beginning of a problem that is an error in compilescope."""


def first_error(problems: Iterable[Problem]) -> Problem | None:
    """Return the first problem that is an error; None if none is."""
    return next((problem for problem in problems if problem.severity == "error"), None)


def compile_failure(problems: Iterable[Problem]) -> str:
    """Return that a compilation failed, in a sentence with the first error of its problems."""
    error = first_error(problems)
    if error is None:
        return f"{COMPILE_FAILED}."
    is_said = error.what.startswith((COMPILE_FAILED, SUBJECT_RAISED))
    return error.what if is_said else f"{COMPILE_FAILED}: {error.what}"


def message_of(error: BaseException) -> str:
    """An exception's message; empty if its ``__str__``, which may be the user's code, fails."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - it may raise anything
        return ""


def first_line_of(error: BaseException) -> str:
    """The first line of an exception's message; empty if it has none."""
    return next(iter(message_of(error).strip().splitlines()), "")


def in_short(error: BaseException) -> str:
    """An exception's type and the first line of its message, without a full stop."""
    return f"{type(error).__name__}: {first_line_of(error)}".rstrip(".: ")


def fault(error: BaseException, where: str = "") -> Problem:
    """The problem for an error in compilescope itself, not in the subject or torch.

    Parameters
    ----------
    error
        The caught exception.
    where
        Where it happened, if not in the user's kernel: ``in the target's process``.
    """
    import traceback

    return Problem(
        severity="error",
        what=f"{FAULT}{where and f' {where}'}: {type(error).__name__}: {message_of(error)}",
        why="This is a bug in compilescope, not in your code.",
        remedy="Please report it with the details below.",
        detail="".join(traceback.format_exception(error)),
    )
