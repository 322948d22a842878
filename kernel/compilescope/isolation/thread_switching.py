"""Balances the working thread and the thread that answers the panel."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ..progress.progress import Monitor
from ..torch_api.inductor.codegen import free_to_compile

SWITCH_S = 0.0005
"""Python's switch interval while requests are answered. With the default of 5 ms, a request waits
that long at each of its dozen steps if other code holds the GIL. Samples taken without requests
are unaffected."""

_lock = threading.Lock()
_blocks = 0
_usual_s = 0.0
"""The process's own interval, while any block runs."""
_set_s = 0.0
"""What these blocks have set, as Python rounds it."""

_PATIENCE_S = 60.0
_LOOK_S = 0.001
_CANCEL_S = 0.1
"""The time in which a thread that waits for the compile lock notices a cancel."""


@contextmanager
def responsive() -> Iterator[None]:
    """Makes Python switch threads more often in the block.

    Such blocks may overlap, in any threads. The last one to end restores the process's own interval,
    or leaves what other code has set meanwhile.
    """
    global _blocks, _usual_s, _set_s
    with _lock:
        _blocks += 1
        if _blocks == 1:
            _usual_s = sys.getswitchinterval()
            sys.setswitchinterval(min(_usual_s, SWITCH_S))
            _set_s = sys.getswitchinterval()
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks and sys.getswitchinterval() == _set_s:
                sys.setswitchinterval(_usual_s)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keeps other threads from generating sources in the block; waiting requests go first.

    Generating sources would disturb the measurement. Also, while torch traces a graph in any
    thread, compiled functions refuse to be called.
    """
    while _asking:
        time.sleep(_LOOK_S)
    with free_to_compile(_PATIENCE_S):
        yield


@contextmanager
def asking() -> Iterator[None]:
    """Makes measurements wait while a thread waits to generate sources or generates them.

    A lock alone is not enough: a thread that reacquires it at once would starve the others.
    """
    token = object()
    _asking.append(token)
    try:
        yield
    finally:
        _asking.remove(token)


@contextmanager
def generating(monitor: Monitor) -> Iterator[None]:
    """Lets this thread generate sources in the block; waits while another thread compiles.

    Raises
    ------
    Cancelled
        The work was cancelled meanwhile.
    """
    with asking(), ExitStack() as stack:
        while not stack.enter_context(free_to_compile(_CANCEL_S)):
            monitor.check()
        yield


_asking: list[object] = []
