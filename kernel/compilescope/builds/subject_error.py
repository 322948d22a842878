"""What the subject itself raises, told apart from what compilescope raises around its call."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Iterator
from contextlib import contextmanager

from ..report.problem import message_of

_GROUPS: tuple[type[BaseException], ...] = tuple(
    filter(None, [getattr(builtins, "BaseExceptionGroup", None)])
)
"""Python 3.10 has none."""
CALL_ERRORS: tuple[type[BaseException], ...] = (
    Exception,
    SystemExit,
    GeneratorExit,
    asyncio.CancelledError,
    *_GROUPS,
)
"""What a call of the subject may raise that is its own: ``sys.exit`` too. ``KeyboardInterrupt`` is
the user's, who wants the inspection to stop."""


class SubjectError(Exception):
    """The subject raised an exception.

    Attributes
    ----------
    error
        What it raised.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(message_of(error))
        self.error = error


@contextmanager
def subjects_own() -> Iterator[None]:
    """In the block the subject runs and nothing else: what is raised there is its own."""
    try:
        yield
    except CALL_ERRORS as error:
        raise SubjectError(error) from error
