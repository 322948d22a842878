"""Parts of the analysis of a compilation that may fail alone: the rest is still shown.

torch's generated code changes from version to version, and an analysis of it that fails is
compilescope's fault: it must not cost the user the rest of an inspection's report.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from ..report.problem import Problem, message_of

_WHAT = "compilescope could not analyze the {} of {}"

_failures: ContextVar[list[_Failure] | None] = ContextVar(
    "compilescope_part_failures", default=None
)


class _Failure(NamedTuple):
    part: str
    compilation: str
    reason: str
    detail: str


@contextmanager
def collecting_failures() -> Iterator[list[Problem]]:
    """Collects the problems of parts that fail in the block, which has them when it ends.

    Elsewhere their errors are raised.
    """
    problems: list[Problem] = []
    failures: list[_Failure] = []
    token = _failures.set(failures)
    try:
        yield problems
    finally:
        _failures.reset(token)
        problems += _problems_of(failures)


def _problems_of(failures: list[_Failure]) -> Iterator[Problem]:
    """One problem for each cause, however many compilations have it."""
    grouped: dict[tuple[str, str], list[_Failure]] = {}
    for failure in failures:
        grouped.setdefault((failure.part, failure.reason), []).append(failure)
    for (part, reason), alike in grouped.items():
        more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
        yield Problem(
            severity="warning",
            what=f"{_WHAT.format(part, alike[0].compilation)}{more}: {reason}",
            why="This is a bug in compilescope, not in your code. The rest is shown.",
            remedy="Please report it with the details below.",
            detail=alike[0].detail,
        )


class Parts:
    """The parts of one compilation.

    Parameters
    ----------
    compilation_id
        The compilation's.
    """

    def __init__(self, compilation_id: str) -> None:
        self._id = compilation_id
        self.absent: dict[str, str] = {}
        """Part that failed → why it is missing."""

    @contextmanager
    def analyzing(self, part: str) -> Iterator[None]:
        """Lets the analysis go on if the block fails.

        Parameters
        ----------
        part
            The field of the compilation that the block fills in, or what it adds to one.
        """
        try:
            yield
        except Exception as error:
            failures = _failures.get()
            if failures is None:
                raise
            reason = f"{type(error).__name__}: {message_of(error)}"
            self.absent[part] = f"{_WHAT.format(part, self._id)}: {reason}"
            detail = "".join(traceback.format_exception(error))
            failures.append(_Failure(part, self._id, reason, detail))
