"""A call that is made inside a context, which a batch of calls enters once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from .stopwatch import Call


class Surrounded:
    """A call without arguments, and the context that it needs.

    By itself it enters the context for each call; `entered` separates the two, so that only the
    call is timed.
    """

    def __init__(self, call: Call, context: Callable[[], AbstractContextManager[None]]) -> None:
        self.call, self.context = call, context

    def __call__(self) -> object:
        """Makes the call in its context."""
        with self.context():
            return self.call()


@contextmanager
def entered(call: Call) -> Iterator[Call]:
    """Enters the context of a call, if it has one; yields the call alone."""
    if isinstance(call, Surrounded):
        with call.context():
            yield call.call
    else:
        yield call
