"""Distinguishes exceptions of the subject from those of compilescope around its call."""

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
"""Exceptions that count as the subject's own, ``sys.exit`` included. A ``KeyboardInterrupt`` comes
from the user, who wants to stop the inspection."""


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
    """Attributes what is raised in the block to the subject: nothing else may run there."""
    try:
        yield
    except CALL_ERRORS as error:
        raise SubjectError(error) from error
