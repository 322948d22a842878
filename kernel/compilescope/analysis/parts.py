"""Parts of the analysis of a compilation that may fail alone: the rest is still shown.

torch's generated code changes from version to version, and an analysis of it that fails is
compilescope's fault: it must not cost the user the rest of a report.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from ..report.problem import Problem, message_of

_WHAT = "compilescope could not analyze the {} of {}"


class _Cause(NamedTuple):
    part: str
    reason: str
    detail: str
    compilations: dict[str, None]


class PartFailures:
    """The parts that failed; those with the same cause are one problem.

    Parameters
    ----------
    max_details
        How many problems keep their details, to bound memory. None: all.
    """

    def __init__(self, max_details: int | None = None) -> None:
        self._max_details = max_details
        self._only: str | None = None
        self._causes: dict[tuple[str, str], _Cause] = {}

    @contextmanager
    def collecting(self, only: str | None = None) -> Iterator[None]:
        """Collects the failures in the block. Elsewhere their errors are raised.

        Parameters
        ----------
        only
            The compilation whose failures replace its earlier ones; those of other compilations,
            which the block does not analyze completely, are ignored. None: all.
        """
        if only is not None:
            self.remove(only)
        before, self._only = self._only, only
        token = _collected.set(self)
        try:
            yield
        finally:
            _collected.reset(token)
            self._only = before

    def add(self, part: str, compilation_id: str, reason: str, error: Exception) -> None:
        """Add the failure of a part of a compilation."""
        if self._only not in (None, compilation_id):
            return
        cause = self._causes.get((part, reason))
        if cause is None:
            has_room = self._max_details is None or len(self._causes) < self._max_details
            detail = "".join(traceback.format_exception(error)) if has_room else ""
            cause = self._causes[part, reason] = _Cause(part, reason, detail, {})
        cause.compilations[compilation_id] = None

    def remove(self, compilation_id: str) -> None:
        """Remove a compilation, to analyze it again with further records."""
        for key, cause in list(self._causes.items()):
            cause.compilations.pop(compilation_id, None)
            if not cause.compilations:
                del self._causes[key]

    def problems(self) -> list[Problem]:
        """One problem for each cause, however many compilations have it."""
        return [_problem_of(cause, list(cause.compilations)) for cause in self._causes.values()]


_collected: ContextVar[PartFailures | None] = ContextVar("compilescope_part_failures", default=None)


@contextmanager
def collecting_failures() -> Iterator[list[Problem]]:
    """Collects the problems of parts that fail in the block, which has them when it ends."""
    problems: list[Problem] = []
    failures = PartFailures()
    try:
        with failures.collecting():
            yield problems
    finally:
        problems += failures.problems()


def _problem_of(cause: _Cause, compilations: list[str]) -> Problem:
    more = f" and {len(compilations) - 1} more" if len(compilations) > 1 else ""
    return Problem(
        severity="warning",
        what=f"{_WHAT.format(cause.part, compilations[0])}{more}: {cause.reason}",
        why="This is a bug in compilescope, not in your code. The rest is shown.",
        remedy="Please report it with the details below." if cause.detail else "Please report it.",
        detail=cause.detail,
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
            failures = _collected.get()
            if failures is None:
                raise
            reason = f"{type(error).__name__}: {message_of(error)}"
            self.absent[part] = f"{_WHAT.format(part, self._id)}: {reason}"
            failures.add(part, self._id, reason, error)
