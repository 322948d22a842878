"""Balances the working thread and the thread that answers the panel."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ..progress.progress import Monitor
from ..torch_api.inductor.codegen import free_to_compile
from .switch_interval import switch_interval_at_most

SWITCH_S = 0.0005
"""Python's switch interval while requests are answered. With the default of 5 ms, a request waits
that long at each of its dozen steps if other code holds the GIL. Samples taken without requests
are unaffected."""

_PATIENCE_S = 60.0
_POLL_S = 0.001
_CANCEL_S = 0.1
"""The time in which a thread that waits for the compile lock notices a cancel."""


@contextmanager
def responsive() -> Iterator[None]:
    """Makes Python switch threads more often in the block. Such blocks may overlap."""
    with switch_interval_at_most(SWITCH_S):
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keeps other threads from generating sources in the block; waiting requests go first.

    Generating sources would disturb the measurement. Also, while torch traces a graph in any
    thread,
    compiled functions refuse to be called.
    """
    while _waiting_requests:
        time.sleep(_POLL_S)
    with free_to_compile(_PATIENCE_S):
        yield


@contextmanager
def asking() -> Iterator[None]:
    """Makes measurements wait while a thread waits to generate sources or generates them.

    A lock alone is not enough: a thread that reacquires it at once would starve the others.
    """
    token = object()
    _waiting_requests.append(token)
    try:
        yield
    finally:
        _waiting_requests.remove(token)


@contextmanager
def generating(monitor: Monitor) -> Iterator[None]:
    """Lets this thread generate sources in the block; waits while another thread compiles.

    Raises
    ------
    Cancelled
        The work was canceled meanwhile.
    """
    with asking(), ExitStack() as stack:
        while not stack.enter_context(free_to_compile(_CANCEL_S)):
            monitor.check()
        yield


_waiting_requests: list[object] = []
