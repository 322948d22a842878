"""Runs work on the kernel's main thread, whichever thread a widget's message arrives on."""

from __future__ import annotations

import contextvars
import signal
import threading
from collections.abc import Callable

from .. import ipython_shell


class Main:
    """Calls functions on the kernel's main thread, in the context in which it was created.

    Widgets' messages usually arrive there; if they arrive over a subshell, the call waits until the
    kernel is idle. Only the main thread can be interrupted. The context holds torch's settings;
    another thread has torch's defaults.
    """

    def __init__(self) -> None:
        self._context = contextvars.copy_context()

    def call(self, work: Callable[[], None]) -> None:
        """Do the work: at once if on the main thread, otherwise as soon as that is free."""
        if threading.current_thread() is threading.main_thread():
            work()
            return
        kernel = ipython_shell.kernel()
        if kernel is None:
            raise RuntimeError("There is no kernel whose main thread could do this.")
        kernel.io_loop.add_callback(self._context.copy().run, _interruptible, work)


def _interruptible(work: Callable[[], None]) -> None:
    """Deliver an interrupt to the work: ipykernel ignores them outside of its messages."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        work()
    finally:
        signal.signal(signal.SIGINT, before)
