"""Interrupts of the main thread, without losing any."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

REPEAT_SECONDS = 0.25
"""How long after an interrupt the next one follows, if the work continues."""


class Interrupts:
    """The interrupts of a piece of work.

    Python drops an exception that a weak reference's callback, a finalizer or a guard called from
    C++ raises, ``KeyboardInterrupt`` too. The work would go on, perhaps to wait for a compiler.
    """

    def __init__(self) -> None:
        self.pending = False
        """Whether an interrupt came that `check` has not raised."""
        self._is_repeated = False
        """Whether the next signal is one that `_repeat` sent."""

    def check(self) -> None:
        """Raises ``KeyboardInterrupt`` if an interrupt is pending."""
        if self.pending:
            self.pending = False
            raise KeyboardInterrupt

    @contextmanager
    def kept(self) -> Iterator[None]:
        """In the block, an interrupt of the main thread is repeated until the block ends.

        It is not repeated while ``KeyboardInterrupt`` is being handled, however long that takes.
        """
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(handler):
            yield
            return
        ended, sending = threading.Event(), threading.Lock()

        def keep(number: int, frame: FrameType | None) -> None:
            is_repeated, self._is_repeated = self._is_repeated, False
            if is_repeated and (ended.is_set() or not self.pending or _is_interrupted()):
                return
            was_pending, self.pending = self.pending, True
            try:
                handler(number, frame)
            except KeyboardInterrupt:
                if not was_pending:
                    # Not `threading.Thread`: what the signal interrupts may hold its locks.
                    _thread.start_new_thread(self._repeat, (ended, sending))
                raise

        signal.signal(signal.SIGINT, keep)
        try:
            yield
        finally:
            with sending:
                ended.set()
            signal.signal(signal.SIGINT, handler)

    def _repeat(self, ended: threading.Event, sending: threading.Lock) -> None:
        """Interrupts the main thread again and again, until nothing is pending."""
        while not ended.wait(REPEAT_SECONDS) and self.pending:
            with sending:
                if not ended.is_set():
                    self._is_repeated = True
                    interrupt_main_thread()


def _is_interrupted() -> bool:
    """Whether this thread is handling a ``KeyboardInterrupt``, or an error raised meanwhile."""
    error, seen = sys.exc_info()[1], set[int]()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__context__
    return False


def interrupt_main_thread() -> None:
    """Interrupts the main thread, as the notebook's own button does.

    Called on the main thread itself, it does nothing: whatever could be interrupted has ended.
    """
    main = threading.main_thread()
    # Not `current_thread`, which would list a thread that `_thread` started from then on.
    if main.ident is None or threading.get_ident() == main.ident:
        return
    if hasattr(signal, "pthread_kill"):
        # What waits for the system there, for a compiler say, is interrupted as well.
        with contextlib.suppress(ProcessLookupError):
            signal.pthread_kill(main.ident, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
