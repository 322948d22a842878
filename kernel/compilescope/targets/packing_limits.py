"""How much work the main thread does to pack a call that another process runs.

Cells wait meanwhile. A call that takes more is left to the kernel.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ..report.errors import CompilescopeError

MOST_BYTES = 550_000_000
"""What is copied in about 0.25 s: a GPT-2 with 12 layers in float32 fits."""

_MOST_S = 0.25
_OFTEN = 256
_PIECE = 1 << 22

_T = TypeVar("_T")


class PackingLimits:
    """Counts the time and the bytes of one call.

    The time is this thread's CPU time: what is refused is remembered, and another process that
    occupies the machine at that moment must not decide that.
    """

    def __init__(self) -> None:
        self._until = time.thread_time() + _MOST_S
        self._bytes = 0

    def check(self) -> None:
        """Ends the packing if its time is over.

        Raises
        ------
        CompilescopeError
            It is.
        """
        if time.thread_time() > self._until:
            raise CompilescopeError(
                "The call is not sent to another process.",
                f"Packing it takes more than {_MOST_S} s, in which cells wait.",
            )

    def each(self, values: Iterable[_T]) -> Iterator[_T]:
        """The values, with a check from time to time.

        Raises
        ------
        CompilescopeError
            The time is over.
        """
        for number, value in enumerate(values):
            if number % _OFTEN == 0:
                self.check()
            yield value

    def add(self, size: int) -> None:
        """Counts bytes before they are read.

        Raises
        ------
        CompilescopeError
            They are too many.
        """
        self._bytes += size
        if self._bytes > MOST_BYTES:
            raise CompilescopeError(
                "The values of the call cannot be sent to another process.",
                f"They take more than {MOST_BYTES / 1e6:.0f} MB.",
            )

    def pieces(self, size: int) -> Iterator[slice]:
        """The parts of a buffer, with a check before each.

        Raises
        ------
        CompilescopeError
            The time is over.
        """
        for start in range(0, size, _PIECE):
            self.check()
            yield slice(start, min(start + _PIECE, size))


class NoLimits(PackingLimits):
    """For the process that compares: nothing waits for it."""

    def check(self) -> None:
        """Does nothing."""

    def add(self, size: int) -> None:
        """Does nothing."""
