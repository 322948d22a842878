"""Distinguishes exceptions of the subject from those of compilescope around its call."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Iterator
from contextlib import contextmanager

from ..report.problem import message_of
from ..torch_api.failures.places import users_part
from ..torch_api.process.devices import settle

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


def without_our_frames(error: BaseException) -> BaseException:
    """An exception that ends the inspection, with the user's part of its traceback and a note.

    A user's class that derives from ``BaseException`` is meant to pass all error handlers, so it
    does not become a problem of the report.
    """
    if isinstance(error, (*CALL_ERRORS, KeyboardInterrupt)):
        return error
    if hasattr(error, "add_note"):  # from Python 3.11 on
        error.add_note(
            f"The call that compilescope inspected raised this. {type(error).__name__} does "
            "not derive from Exception, so it ends the inspection instead of being reported."
        )
    return error.with_traceback(users_part(error))


@contextmanager
def subjects_own() -> Iterator[None]:
    """Attributes what is raised in the block to the subject: nothing else may run there.

    What its kernels raise on a GPU counts too.
    """
    try:
        yield
        settle()
    except CALL_ERRORS as error:
        raise SubjectError(error) from error
