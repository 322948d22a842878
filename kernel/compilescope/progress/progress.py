"""Progress reports of an inspection, and its cancellation."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import msgspec

from .history import UsualDuration
from .interrupts import Interrupts


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A step that has begun.

    ``fraction`` is how much of the whole was done before it, from 0 to 1, or None when unknown.
    ``began`` is when the whole began, by ``time.monotonic``, and ``usual`` how long its like took.
    """

    step: str
    fraction: float | None = None
    variant: str = ""
    began: float | None = None
    usual: UsualDuration | None = None


Report = Callable[[Progress], None]


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """The inspection was asked to stop between two steps."""


class Monitor:
    """Passes steps on, and stops the work at the next step once it is canceled."""

    def __init__(self, report: Report | None = None) -> None:
        self._report = report
        self._cancelled = threading.Event()
        self._lock = threading.RLock()
        self._interruptible: int | None = None
        """The thread to interrupt when the work is canceled."""
        self._is_interrupted = False
        """Whether an interrupt of a thread was requested; it may still be pending."""
        self._interrupts = Interrupts()

    def step(self, step: str, *, variant: str = "", fraction: float | None = None) -> None:
        """Begins a step.

        Raises
        ------
        Cancelled
            The work was canceled meanwhile.
        KeyboardInterrupt
            It was interrupted, and the code that ran at that time swallowed the interrupt.
        """
        self.check()
        if self._report is not None:
            self._report(Progress(step=step, variant=variant, fraction=fraction))

    def step_unchecked(
        self, step: str, *, variant: str = "", fraction: float | None = None
    ) -> None:
        """Begins a step without `check`, which may raise: in the middle of a compilation."""
        if self._report is not None and not self.cancelled:
            self._report(Progress(step=step, variant=variant, fraction=fraction))

    def check(self) -> None:
        """Raises `Cancelled` if the work was canceled, or an interrupt that was swallowed.

        Called where something failed, too: an import that is interrupted may raise ``TypeError``,
        which says nothing of what was compiled.
        """
        self._interrupts.check()
        if self._cancelled.is_set():
            raise Cancelled

    def within(self, report: Report) -> Monitor:
        """A monitor for a part of the work: its steps go to ``report``; canceled they are as one.

        ``report`` is called before a step begins, and passes it on as it sees fit.
        """
        part = Monitor(report)
        part._cancelled = self._cancelled
        part._interrupts = self._interrupts
        return part

    def keeping_interrupts(self) -> AbstractContextManager[None]:
        """In the block, no interrupt of the main thread is lost: see `Interrupts`."""
        return self._interrupts.kept()

    @contextmanager
    def interruptible(self) -> Iterator[Callable[[str, str], None]]:
        """Lets `cancel` end the work between two steps too, on a thread other than the main one.

        It raises ``KeyboardInterrupt`` there, as Ctrl-C does on the main thread, for which the
        front end's interrupt is left to do so.

        Yields
        ------
        Callable
            Passes on a step and its variant, without an interrupt in the midst of that.

        Raises
        ------
        Cancelled
            The work was canceled, before the block or in it.
        """
        thread = threading.get_ident()
        if thread == threading.main_thread().ident:
            yield lambda step, variant: self.step(step, variant=variant)
            return

        def allow(allowed: bool) -> None:
            with self._lock:
                self._interruptible = thread if allowed else None

        def tell(step: str, variant: str) -> None:
            allow(False)
            if self._report is not None and not self.cancelled:
                self._report(Progress(step=step, variant=variant))
            allow(True)
            if self.cancelled:
                self._interrupt(thread)

        self.check()
        try:
            allow(True)
            self.check()
            yield tell
        except KeyboardInterrupt:
            raise Cancelled from None
        finally:
            allow(False)
            if self._is_interrupted:
                _withdraw_interrupt()

    def cancel(self) -> None:
        """Asks the work to stop; safe to call from any thread."""
        self._cancelled.set()
        with self._lock:
            if self._interruptible is not None:
                self._interrupt(self._interruptible)

    def _interrupt(self, thread: int) -> None:
        """Makes a thread raise ``KeyboardInterrupt`` soon."""
        self._is_interrupted = True
        _raise_in(thread, KeyboardInterrupt)

    @property
    def cancelled(self) -> bool:
        """Whether the work was asked to stop, or interrupted."""
        return self._interrupts.pending or self._cancelled.is_set()


class _Withdrawn(BaseException):
    """Replaces an interrupt that is no longer wanted."""


def _withdraw_interrupt() -> None:
    """Clears an interrupt that this thread has not raised yet, if there is one.

    Setting none would not do: CPython up to 3.11 then keeps its note that one is set, and with
    that no function gets past its first instruction under ``sys.settrace``.
    """
    try:
        _raise_in(threading.get_ident(), _Withdrawn)
        while True:
            pass
    except _Withdrawn:
        return


def _raise_in(thread: int, exception: type[BaseException]) -> None:
    """Makes a thread raise an exception soon."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(exception))
