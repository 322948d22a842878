"""Parts of the analysis of a compilation that may fail alone: the rest is still shown.

torch's generated code changes from version to version, and a reader of it that fails is
compilescope's fault: it must not cost the user the rest of the report.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..report.problem import Problem, message_of

_problems: ContextVar[list[Problem] | None] = ContextVar("compilescope_part_problems", default=None)


@contextmanager
def collecting_failures() -> Iterator[list[Problem]]:
    """Collects the problems of parts that fail in the block; elsewhere their errors are raised."""
    problems: list[Problem] = []
    token = _problems.set(problems)
    try:
        yield problems
    finally:
        _problems.reset(token)


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
            The field of the compilation that the block fills in or completes.
        """
        try:
            yield
        except Exception as error:
            problems = _problems.get()
            if problems is None:
                raise
            what = f"compilescope could not analyze the {part} of {self._id}"
            reason = f"{type(error).__name__}: {message_of(error)}"
            self.absent[part] = f"{what}: {reason}"
            problems.append(
                Problem(
                    severity="warning",
                    what=f"{what}: {reason}",
                    why="This is a bug in compilescope, not in your code. The rest is shown.",
                    remedy="Please report it with the details below.",
                    detail="".join(traceback.format_exception(error)),
                )
            )
