"""Replies on the way out, where ipykernel 7.0 to 7.3 may lose a request to one.

There, the thread of the shell channel reads requests through a stream, and writes replies past it,
straight to the stream's socket. Writing uses up the signal by which the stream learns of a request.
One that arrives at that moment is not read, nor is what follows it on its connection: the cell
stays at ``[*]`` while the kernel is idle. A panel asks when a cell ends, the very moment at which
the cell's reply goes out.

ipykernel 7.4 writes through the stream (its pull request 1529), and so does what is here. It stands
on ``SubshellManager._shell_socket``, which only those versions have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.getipython import get_ipython


def through_stream() -> Callable[[], None]:
    """Has the kernel send its replies through the stream, if it does not do so by itself.

    Returns
    -------
    Callable
        Puts back what was there.
    """
    # IPython 8 (Python 3.10) does not type it.
    shell = get_ipython()  # type: ignore[no-untyped-call,unused-ignore]
    kernel: Any = getattr(shell, "kernel", None)
    manager: Any = getattr(getattr(kernel, "shell_channel_thread", None), "manager", None)
    if not hasattr(manager, "_shell_socket"):
        return lambda: None
    before = manager._shell_socket

    def put_back() -> None:
        manager._shell_socket = before

    manager._shell_socket = kernel.shell_stream
    return put_back
